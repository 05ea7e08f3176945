import { setClock } from "../../support/seed.ts";
import { claim, claimHeard, taken } from "../checks.ts";
import { blank, say, step } from "../screen.ts";
import type { Scene } from "../set-up.ts";

const TUESDAY = "2026-11-24T11:00:00Z";

/** A run on another day is refused. */
export async function tuesday(scene: Scene): Promise<void> {
  step("The same command on a Tuesday");
  await setClock(scene.sql, TUESDAY, { ticking: true });
  const before = taken(scene);
  const { exitCode } = await scene.run(["weekly"]);
  claim("a writing run on a Tuesday is refused", exitCode === 4 && taken(scene) === before);
  claimHeard(scene, { messages: 3, issues: 1 });
  blank();
  say("Nothing is written or sent outside Monday in São Paulo, by the database's clock.");
}

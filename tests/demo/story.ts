/** The demo, scene by scene. */
import { claimsHeld } from "./checks.ts";
import { awayForAWhile } from "./scenes/away-for-a-while.ts";
import { awayForLong } from "./scenes/away-for-long.ts";
import { showMessages } from "./scenes/messages.ts";
import { onceMore } from "./scenes/once-more.ts";
import { tuesday } from "./scenes/tuesday.ts";
import { whatIsLeft } from "./scenes/what-is-left.ts";
import { blank, say } from "./screen.ts";
import { setUp } from "./set-up.ts";
import type { Stage } from "./stage.ts";

/** Tells the whole story. */
export async function tell(stage: Stage): Promise<void> {
  const scene = await setUp(stage);
  await awayForLong(scene);
  await awayForAWhile(scene);
  showMessages(scene);
  await whatIsLeft(scene);
  await onceMore(scene);
  await tuesday(scene);
  blank();
  say(
    `Every claim above was checked against the database and the stand-ins' own ledgers: ${claimsHeld()} checks held.`,
  );
}

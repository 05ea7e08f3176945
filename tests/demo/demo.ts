/** `make demo`: a real weekly run to look at. Exits 0 only when everything that it shows is true. */
import process from "node:process";
import { ClaimFailed } from "./checks.ts";
import { openStage } from "./stage.ts";
import { tell } from "./story.ts";

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

const stage = openStage();
const interrupted = new Promise<number>((resolve) => {
  for (const [name, status] of Object.entries(SIGNALS)) process.on(name, () => resolve(status));
});

const told = tell(stage).then(
  () => 0,
  (error: unknown) => ({ error }),
);
const result = await Promise.race([told, interrupted]);
if (typeof result === "object") {
  const { error } = result;
  console.error(error instanceof ClaimFailed ? `\nThis does not hold: ${error.message}` : error);
}
await stage.close();
process.exit(typeof result === "object" ? 1 : result);

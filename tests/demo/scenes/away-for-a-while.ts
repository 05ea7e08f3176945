import { claim, claimFirstRun, claimHeard, claimNoNetworkLacks } from "../checks.ts";
import { bringBack, refusedCalls, takeAwayFor } from "../outage.ts";
import { blank, say, step } from "../screen.ts";
import type { Scene } from "../set-up.ts";

const AWAY_MS = 20_000;
const AFTER_CALLS = 5;

/** The application goes away in the middle of a run and comes back: the run waits, and no report lacks a network. */
export async function awayForAWhile(scene: Scene): Promise<void> {
  const { application } = scene.peers;
  step("The same command again: the application is back, and goes away once more");
  say(
    `After ${AFTER_CALLS} analyses it answers 503 for ${AWAY_MS / 1000} seconds. The run puts these owners back, waits, asks again every 30 seconds, and goes on with the first good answer. That takes half a minute here.`,
  );
  blank();
  say(
    "Besides, one network refuses its token, two owners cannot be reached on one channel, and the answer to one WhatsApp message gets lost on its way back.",
  );
  const before = refusedCalls(application);
  takeAwayFor(application, { afterCalls: AFTER_CALLS, ms: AWAY_MS });
  const { exitCode } = await scene.run(["weekly", "--concurrency", "3"]);
  bringBack(application);
  claim("the application was away in the middle of the run", refusedCalls(application) - before >= 10);
  claim("a run with failures exits with 1", exitCode === 1);
  await claimFirstRun(scene);
  await claimNoNetworkLacks(scene);
  await scene.alarm.message(2);
  claimHeard(scene, { messages: 2, issues: 1 });
  blank();
  say(
    "The outage cost time and no network. The network that refuses its token is no failure of the run: its report went out and says so. The one message in doubt is `unknown`, since the gateway may have sent it; opsctl never sends such a message again by itself. The operator's phone has a second message, the tracker still one issue.",
  );
}

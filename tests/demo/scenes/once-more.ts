import { claim, claimHeard, claimNothingTwice, hasHeartbeat, taken } from "../checks.ts";
import { blank, quote, say, step } from "../screen.ts";
import type { Scene } from "../set-up.ts";

/** The same command a third time: what was missing is sent, the week is clean, the alarm ends. */
export async function onceMore(scene: Scene): Promise<void> {
  step("The same command a third time");
  say("Everything that is done is reused. Only what was missing is sent.");
  const { gateway, email, application } = scene.peers;
  const before = [gateway.accepted.length, email.accepted.length, application.analyzed.length];
  const { exitCode } = await scene.run(["weekly"]);
  claim("the third run succeeds", exitCode === 0);
  claim(
    "one more message and one more e-mail, no analysis anew",
    taken(scene) === [before[0]! + 1, before[1]! + 1, before[2]].join(" "),
  );
  claim("the heartbeat is written", hasHeartbeat(scene));
  claimNothingTwice(scene);
  const message = await scene.alarm.message(3);
  claim("the alarm ends", message.includes("Resolvido"));
  claimHeard(scene, { messages: 3, issues: 1 });
  blank();
  say("The operator's phone:");
  quote(message);
  const status = await scene.run(["reports", "status"]);
  claim("the week is clean", status.exitCode === 0);
  blank();
  say("The heartbeat file is written: what watches it knows that this Monday's work is done.");
}

import { claim, claimHeard, claimNoNetworkLacks, hasHeartbeat } from "../checks.ts";
import { bringBack, takeAway } from "../outage.ts";
import { blank, quote, say, step } from "../screen.ts";
import type { Scene } from "../set-up.ts";

/** The application stays away: the run breaks off, the operator hears it, nothing is made without a network. */
export async function awayForLong(scene: Scene): Promise<void> {
  step("Monday, 08:00, and the application is away");
  say(
    "Every analysis call is answered with 503. A run waits 15 minutes for its application; this one is told not to wait at all.",
  );
  takeAway(scene.peers.application);
  const { exitCode } = await scene.run(["weekly", "--patience", "0"]);
  claim("a run that breaks off exits with 1", exitCode === 1);
  await claimBrokenOff(scene);
  blank();
  say(
    "Nothing was made that lacks a network, since a report is final. Two owners have no network connected: theirs are made and sent.",
  );

  step("What the operator hears, and sees");
  const message = await scene.alarm.message(1);
  claim(
    "the alert names the run and why it ended",
    ["Relatório semanal falhou", "APP_NOT_ANSWERING"].every((words) => message.includes(words)),
  );
  claimHeard(scene, { messages: 1, issues: 1 });
  quote(message);
  const status = await scene.run(["reports", "status"]);
  claim("an open week exits with 1", status.exitCode === 1);
  bringBack(scene.peers.application);
}

async function claimBrokenOff(scene: Scene): Promise<void> {
  const { sql, tenants, peers } = scene;
  const isNetless = (userId: string) =>
    tenants.some(({ owner }) => owner.userId === userId && owner.connections.length === 0);
  const rows = await sql`select user_id, status, error_code from weekly_performance_reports`;
  const made = rows.filter(({ status }) => status === "completed");
  claim(
    "reports were made for owners without a network alone",
    made.every(({ user_id }) => isNetless(user_id)),
  );
  claim(
    "all others wait for the next run",
    rows.every(({ status, error_code }) => status === "completed" || error_code === "social_retry"),
  );
  claim("no more messages than reports", peers.gateway.accepted.length === made.length);
  claim("no editorials while the application is away", peers.application.routes.editorial.calls.length === 0);
  claim("no heartbeat", !hasHeartbeat(scene));
  await claimNoNetworkLacks(scene);
}

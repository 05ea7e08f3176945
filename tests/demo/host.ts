/** The second act's own service: an alarm with a small disk and a second way out, and the alerts of its host. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type EmailProvider, startEmailProvider } from "../standins/email-provider.ts";
import { type Alarm, startAlarm } from "./alarm.ts";
import { type Disk, openDisk } from "./disk.ts";
import { say, showCommand, step } from "./screen.ts";
import type { Stage } from "./stage.ts";

const EMAIL_KEY = "re_demo_alarm_key";

/** The installed unit tells a longer queue together, and paces issues over hours. */
const ARGS = ["--digest-after", "5", "--issues-per-hour", "360000"];

/** The second act. */
export type Host = { alarm: Alarm; disk: Disk; email: EmailProvider };

/** Starts the service on a disk of its own, and its e-mail provider. */
export async function startHost(stage: Stage): Promise<Host> {
  const disk = openDisk(stage);
  const email = await startEmailProvider({ apiKey: EMAIL_KEY });
  stage.onClose(() => email.stop());
  step("Another webhook, on a small disk and with a second way out");
  say(
    "Its fallback channel is an e-mail provider, a stand-in like gateway and tracker. The installed unit says --digest-after 120 and makes 300 issues an hour; these numbers keep the demo short.",
  );
  showCommand(["webhook", "serve", ...ARGS]);
  const env = {
    ALERT_EMAIL_TO: "plantao@exemplo.example",
    ALERT_EMAIL_FROM: "alarme@mail.example",
    ALERT_EMAIL_API_KEY: EMAIL_KEY,
    ALERT_EMAIL_API_URL: email.url,
  };
  const alarm = await startAlarm(stage, { state: disk.directory, args: ARGS, env });
  return { alarm, disk, email };
}

/** What tells one alert from another, and what it says. */
export type AlertFacts = {
  name: string;
  instance: string;
  severity: "critical" | "high" | "warning";
  summary: string;
};

/** An alert as the platform posts it, that began `minutes` ago. */
export function alertOf(
  { name, instance, severity, summary }: AlertFacts,
  { minutes = 5, isOver = false } = {},
) {
  const startsAt = new Date(Date.now() - minutes * 60_000).toISOString();
  return {
    status: isOver ? "resolved" : "firing",
    fingerprint: `${name}/${instance}`,
    labels: { alertname: name, instance, severity, ruleGroup: "vps-infra" },
    annotations: { summary },
    startsAt,
    endsAt: isOver ? new Date().toISOString() : "0001-01-01T00:00:00Z",
  };
}

/** Sets the time back at which every waiting alert was accepted, in the service's own file. */
export function waitIsOver({ disk }: Host, ms: number): void {
  const db = new DatabaseSync(join(disk.directory, "state.db"), { timeout: 5_000 });
  try {
    db.prepare("update outbox set accepted_at_ms = accepted_at_ms - ? where state = 'queued'").run(ms);
  } finally {
    db.close();
  }
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { cronEnvironment } from "../support/started-environment.ts";
import { type Cost, OPSCTL, run } from "./child.ts";
import type { ManyOwners } from "./many-owners.ts";

/**
 * What is different for one run.
 *
 * Shape: `databaseUrl` and `emailUrl` where they are not those of the owners and the peers; `stop` ends the run before
 *        its end, as SIGTERM does.
 */
export type RunChanges = {
  databaseUrl?: string;
  emailUrl?: string;
  messagesPerMinute?: number;
  stop?: AbortSignal;
};

/**
 * One complete run of the compiled binary, with the engine as the cron file sets it.
 *
 * Errors: a run that did not succeed has measured nothing.
 */
export async function weeklyRun(
  { db, senders }: ManyOwners,
  peerUrl: string,
  concurrency: number,
  { databaseUrl = db.url, emailUrl = peerUrl, messagesPerMinute, stop }: RunChanges = {},
): Promise<Cost & { summary: WeeklySummary }> {
  const logDir = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  try {
    const env = {
      ...cronEnvironment(),
      DATABASE_URL: databaseUrl,
      APP_BASE_URL: peerUrl,
      GATEWAY_URL: peerUrl,
      EMAIL_API_URL: emailUrl,
      TRIGGER_SECRET: "bench-trigger",
      GATEWAY_ADMIN_KEY: "bench-gateway",
      EMAIL_API_KEY: "bench-email",
      WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
      WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
      OPSCTL_LOG_DIR: logDir,
      OPSCTL_SECRETS_DIR: logDir,
      ...(messagesPerMinute ? { WHATSAPP_REPORT_MESSAGES_PER_MINUTE: String(messagesPerMinute) } : {}),
    };
    const words = [OPSCTL, "weekly", "--json", "--concurrency", String(concurrency)];
    const cost = await run(words, env, stop);
    if (cost.exitCode !== 0 && !stop?.aborted)
      throw new Error(`The run failed: ${cost.stdout}${cost.stderr.slice(0, 2_000)}`);
    return { ...cost, summary: JSON.parse(cost.stdout) };
  } finally {
    rmSync(logDir, { recursive: true, force: true });
  }
}

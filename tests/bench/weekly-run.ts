import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { cronEnvironment } from "../support/cron-environment.ts";
import { type Cost, OPSCTL, run } from "./child.ts";
import type { ManyOwners } from "./many-owners.ts";

/** Where a run finds its database and its peers, when not where `owners` and `peerUrl` say. */
export type Detour = { databaseUrl?: string; emailUrl?: string };

/**
 * One complete run of the compiled binary, with the engine as the cron file sets it.
 *
 * Errors: a run that did not succeed has measured nothing.
 */
export async function weeklyRun(
  { db, senders }: ManyOwners,
  peerUrl: string,
  concurrency: number,
  detour: Detour = {},
): Promise<Cost & { summary: WeeklySummary }> {
  const logDir = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  try {
    const cost = await run([OPSCTL, "weekly", "--json", "--concurrency", String(concurrency)], {
      ...cronEnvironment(),
      DATABASE_URL: detour.databaseUrl ?? db.url,
      APP_BASE_URL: peerUrl,
      GATEWAY_URL: peerUrl,
      EMAIL_API_URL: detour.emailUrl ?? peerUrl,
      TRIGGER_SECRET: "bench-trigger",
      GATEWAY_ADMIN_KEY: "bench-gateway",
      EMAIL_API_KEY: "bench-email",
      WHATSAPP_REPORT_SENDER_TENANT_ID: senders.whatsappTenantId,
      WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: senders.emailTenantId,
      OPSCTL_LOG_DIR: logDir,
      OPSCTL_SECRETS_DIR: logDir,
    });
    if (cost.exitCode !== 0) throw new Error(`The run failed: ${cost.stdout}${cost.stderr.slice(0, 2_000)}`);
    return { ...cost, summary: JSON.parse(cost.stdout) };
  } finally {
    rmSync(logDir, { recursive: true, force: true });
  }
}

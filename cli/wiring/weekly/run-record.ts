import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { logDirectory } from "../../../lib/platform/config/directories.ts";
import { pingedRecord } from "../../../lib/weekly/announce/pinged-record.ts";
import { createRunRecord, type RunRecord } from "../../../lib/weekly/announce/run-record.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../../lib/weekly/announce/settings.ts";
import type { CommandContext } from "../../framework/command.ts";
import { callLog } from "../call-log.ts";
import { openPingEnd } from "../ping.ts";
import type { WeeklyFlags } from "./run.ts";

/** Hosts give a process half a minute after a signal, and the run itself may have used most of it. */
const LIMITS_MS = { usual: 10_000, interrupted: 4_000 };

/**
 * The record of a weekly run with these flags, opened before the run's own settings are known: a run that cannot read
 * them is recorded and announced as well, and one whose alert webhook or ping cannot be used goes on without them.
 */
export async function openRunRecord(
  { dryRun, tenantId, skipWhatsapp, skipEmail, skipEditorials }: WeeklyFlags,
  { env, log, interrupt }: Pick<CommandContext, "env" | "log"> & { interrupt: AbortSignal },
): Promise<RunRecord> {
  // A run that leaves something out, or writes nothing, proves nothing about the week.
  const isWhole = !dryRun && tenantId === null && !skipWhatsapp && !skipEmail && !skipEditorials;
  const ping = await openPingEnd("weekly", { env, log });
  const webhook = {
    url: async () => (await loadAlertWebhook(env)) as URL,
    findSecret: () => findWebhookSecret(env),
  };
  const record = createRunRecord({
    ...{ isWhole, log, interrupt, host: hostname(), limitsMs: LIMITS_MS, nowMs: Date.now },
    logDir: await logDirectory("weekly", env),
    webhook: (env[ALERT_WEBHOOK] ?? "").trim() === "" ? null : webhook,
    monotonicMs: () => performance.now(),
    sleep: (ms) => delay(ms),
    onCall: callLog(log),
  });
  return pingedRecord(record, {
    isWhole,
    // A host that ends the process does not wait for ten seconds more.
    ping: (isWell) =>
      ping(isWell, interrupt.aborted ? AbortSignal.timeout(LIMITS_MS.interrupted) : undefined),
  });
}

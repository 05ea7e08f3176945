import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { logDirectory } from "../../../lib/platform/config/directories.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import type { AlertWebhook } from "../../../lib/weekly/announce/announce.ts";
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
  flags: WeeklyFlags,
  { env, log, interrupt }: Pick<CommandContext, "env" | "log"> & { interrupt: AbortSignal },
): Promise<RunRecord> {
  const ping = await openPingEnd({ env, log });
  const record = createRunRecord({
    isWhole: isWhole(flags),
    logDir: await logDirectory(env),
    webhook: alertWebhookOf(env),
    log,
    host: hostname(),
    interrupt,
    limitsMs: LIMITS_MS,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    sleep: (ms) => delay(ms),
    onCall: callLog(log),
  });
  return pingedRecord(record, {
    isWhole: isWhole(flags),
    // A host that ends the process does not wait for ten seconds more.
    ping: (isWell) =>
      ping(isWell, interrupt.aborted ? AbortSignal.timeout(LIMITS_MS.interrupted) : undefined),
  });
}

/** A run that leaves something out, or writes nothing, proves nothing about the week. */
function isWhole({ dryRun, tenantId, skipWhatsapp, skipEmail, skipEditorials }: WeeklyFlags): boolean {
  return !dryRun && tenantId === null && !skipWhatsapp && !skipEmail && !skipEditorials;
}

function alertWebhookOf(env: Environment): AlertWebhook | null {
  if ((env[ALERT_WEBHOOK] ?? "").trim() === "") return null;
  return {
    url: async () => (await loadAlertWebhook(env)) as URL,
    findSecret: () => findWebhookSecret(env),
  };
}

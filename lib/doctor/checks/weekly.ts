import { stat } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import { HEARTBEAT_FILE } from "../../host/heartbeat-file-name.ts";
import type { LastRunReading } from "../../last-run/read.ts";
import { STEP_COMMANDS } from "../../ledger/week-steps.ts";
import { logDirectory } from "../../platform/config/directories.ts";
import type { Settings } from "../../platform/config/load.ts";
import type { SettingName } from "../../platform/config/settings-table.ts";
import { checkReach } from "../../providers/application/reach.ts";
import { WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import { evolutionClient } from "../../providers/evolution/client.ts";
import { checkResendKey } from "../../providers/resend/key.ts";
import { Temporal } from "../../time/temporal.ts";
import { isToCome } from "../../time/to-come.ts";
import { weeklyStore } from "../../weekly/database/store.ts";
import { emailSenderOf } from "../../weekly/delivery/email-sender.ts";
import { countRecipients } from "../../weekly/delivery/recipients.ts";
import { instanceNameOf } from "../../weekly/delivery/whatsapp.ts";
import { senderInstanceProblem } from "../../weekly/setup/gateway.ts";
import { logDirectoryProblem } from "../../weekly/setup/log-directory.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { unseenVerdict } from "../facts/reader.ts";
import { command, fail, NEXT_MONDAY, notChecked, pass, SET_CLOCK, type Verdict, warn } from "../finding.ts";
import { writableVerdict } from "./host/directory.ts";
import { withDatabase } from "./peers/database.ts";
import { gatewayFailure, keyVerdict } from "./peers/gateway.ts";
import { checkWithSettings } from "./settings/configuration.ts";
import { correctSecret } from "./settings/correct-setting.ts";
import { ALERT_WEBHOOK_CHECK } from "./weekly/alert-webhook.ts";
import { lastRunCheck, readLastRunNow } from "./weekly/last-run.ts";
import { lastWeekCheck } from "./weekly/last-week.ts";
import { isWeekClosed, renewalOf } from "./weekly/settled-week.ts";

const of = "weekly";
const GATEWAY = { required: ["GATEWAY_URL", "GATEWAY_ADMIN_KEY"] } as const;
const LOGS = { optional: ["OPSCTL_LOG_DIR"] } as const;
const DAY_MS = 86_400_000;
/** There is a run every week; one more day to notice a missing one. */
const HEARTBEAT_LIMIT_DAYS = 8;

/** What the weekly run needs besides settings and database: senders, peers, its log directory, its last success. */
export const WEEKLY_CHECKS: readonly Check[] = [
  checkWithSettings(
    { command: of, name: "messaging gateway" },
    GATEWAY,
    async (settings, context, signal) => [
      await keyVerdict(gatewayOf(settings, context), { context, command: of, names: WEEKLY_GATEWAY }, signal),
    ],
  ),
  checkOfSender(
    { name: "whatsapp sender", code: "sender_tenant_missing", variable: "WHATSAPP_REPORT_SENDER_TENANT_ID" },
    GATEWAY,
    async (senderTenantId, settings, context, signal) => {
      const gateway = gatewayOf(settings, context);
      return await withDatabase(of, context, async (sql) => {
        const sender = await weeklyStore(sql).readSenders(senderTenantId, null);
        const problem = await senderInstanceProblem(gateway, instanceNameOf(sender.instanceName), signal);
        if (problem !== null)
          return [await gatewayFailure(problem, { context, command: of, names: WEEKLY_GATEWAY })];
        return [pass("the sender's instance is open")];
      });
    },
  ),
  checkOfSender(
    {
      name: "e-mail sender",
      code: "email_sender_tenant_missing",
      variable: "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID",
    },
    { required: [] },
    (senderTenantId, _settings, context) =>
      withDatabase(of, context, async (sql) => {
        const { emailSender } = await weeklyStore(sql).readSenders(null, senderTenantId);
        const sender = emailSenderOf(emailSender);
        if (sender.status === "ready") return [pass("the e-mail sender is verified")];
        return [
          fail(
            sender.code,
            `${sender.code}: the central tenant's sender is not ready`,
            "Set tenant_config.config.email of the central tenant: an address, and verification_status verified",
          ),
        ];
      }),
  ),
  checkWithSettings(
    { command: of, name: "e-mail provider" },
    { required: ["EMAIL_API_KEY"], optional: ["EMAIL_API_URL"] },
    async (settings, context, signal) => {
      const state = await checkResendKey({
        baseUrl: new URL(settings.EMAIL_API_URL),
        apiKey: settings.EMAIL_API_KEY,
        timeoutMs: context.dependencies.callLimitMs,
        signal,
      });
      if (state.status === "accepted") return [pass("the provider answers and takes the key")];
      if (state.status === "refused")
        return [
          fail(
            state.code,
            `${state.code}: the provider refuses the key`,
            await correctSecret(context, of, "EMAIL_API_KEY"),
          ),
        ];
      return [
        fail(
          state.code,
          `${state.code}: the provider does not answer as it should`,
          "Check EMAIL_API_URL and the network",
        ),
      ];
    },
  ),
  {
    command: of,
    name: "recipients",
    run: (context) => withDatabase(of, context, async (sql) => [await recipientsVerdict(sql)]),
  },
  checkWithSettings(
    { command: of, name: "application" },
    { required: ["APP_BASE_URL"] },
    async (settings, context, signal) => {
      const timeoutMs = context.dependencies.callLimitMs;
      const reach = await checkReach({ baseUrl: new URL(settings.APP_BASE_URL), timeoutMs, signal });
      if (reach.status === "failed")
        return [
          fail(
            reach.code,
            `${reach.code}: nothing answers at APP_BASE_URL`,
            "Check APP_BASE_URL and the network",
          ),
        ];
      return [
        pass("the application answers"),
        notChecked(
          "CHECK_HAS_EFFECTS",
          "its routes and TRIGGER_SECRET, because each call of them has an effect",
        ),
      ];
    },
  ),
  checkWithSettings({ command: of, name: "log directory" }, LOGS, async ({ OPSCTL_LOG_DIR }, context) => [
    await logDirectoryVerdict(context, OPSCTL_LOG_DIR),
  ]),
  checkWithSettings({ command: of, name: "last success" }, LOGS, async ({ OPSCTL_LOG_DIR }, context) => [
    await heartbeatVerdict(OPSCTL_LOG_DIR, context),
  ]),
  lastRunCheck(logDirOf),
  lastWeekCheck(logDirOf),
  ALERT_WEBHOOK_CHECK,
];

/** Where the last run of this host left its record; null where the settings do not name it. */
async function logDirOf(context: CheckContext): Promise<string | null> {
  return await logDirectory((await context.environment(of)).env);
}

function gatewayOf(settings: Settings<(typeof GATEWAY)["required"][number]>, context: CheckContext) {
  const { GATEWAY_URL, GATEWAY_ADMIN_KEY: adminKey } = settings;
  return evolutionClient({
    baseUrl: new URL(GATEWAY_URL),
    adminKey,
    timeoutMs: context.dependencies.callLimitMs,
  });
}

type SenderVariable = "WHATSAPP_REPORT_SENDER_TENANT_ID" | "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID";

/** A check of the tenant that sends, which the run itself misses only at its step: no other check names it. */
function checkOfSender<const R extends SettingName>(
  { name, code, variable }: { name: string; code: string; variable: SenderVariable },
  { required }: { required: readonly R[] },
  run: (
    tenantId: string,
    settings: Settings<R>,
    context: CheckContext,
    signal: AbortSignal,
  ) => Promise<Verdict[]>,
): Check {
  const check = { command: of, name } as const;
  const wanted = { required: [...required, variable] } as const;
  const withTenant = checkWithSettings(check, wanted, (settings, context, signal) =>
    run((settings as Record<SenderVariable, string>)[variable], settings as Settings<R>, context, signal),
  );
  return {
    ...check,
    async run(context, signal) {
      const { env, file } = await context.environment(of);
      if (file.problem !== null || (env[variable] ?? "").trim() !== "")
        return await withTenant.run(context, signal);
      return [fail(code, `${code}: ${variable} is not set`, `Set ${variable} in ${file.path}`)];
    },
  };
}

/** Judged as the dry run judges it. */
async function logDirectoryVerdict(context: CheckContext, logDir: string): Promise<Verdict> {
  const writable = await writableVerdict(of, context, logDir, "0755");
  const problem = writable.status === "pass" ? await logDirectoryProblem(logDir) : null;
  if (problem === null) return writable;
  const reason = `HEARTBEAT_UNWRITABLE: the success heartbeat cannot be written in ${logDir} (${problem})`;
  const isFull = problem === "ENOSPC";
  return fail(
    "HEARTBEAT_UNWRITABLE",
    reason,
    isFull ? "Make room on its disk (df -h)" : "Make it a directory that this account may write to",
  );
}

async function recipientsVerdict(sql: postgres.Sql): Promise<Verdict> {
  const { owners, withoutPhone, withoutEmail } = await countRecipients(weeklyStore(sql));
  if (owners === 0) return warn("NO_OWNERS", "no owner is eligible: a run would have nothing to do", null);
  const counted = owners === 1 ? "1 owner" : `${owners} owners`;
  if (withoutPhone + withoutEmail === 0)
    return pass(`${counted}, ${owners === 1 ? "" : "all "}with a usable phone and e-mail`);
  return warn(
    "RECIPIENTS_UNUSABLE",
    `${counted}: ${withoutPhone} without a usable phone, ${withoutEmail} without a usable e-mail`,
    command(
      "opsctl weekly --dry-run --json",
      "Correct users.phone and users.email of the tenants that this names:",
    ),
  );
}

async function heartbeatVerdict(logDir: string, context: CheckContext): Promise<Verdict> {
  const path = join(logDir, HEARTBEAT_FILE);
  const nowMs = context.dependencies.nowMs();
  try {
    const { mtimeMs } = await stat(path);
    const days = (nowMs - mtimeMs) / DAY_MS;
    if (isToCome(nowMs - mtimeMs))
      return warn(
        "CLOCK_WRONG",
        `the last full success is said to be ${(-days).toFixed(1)} days to come: a clock was wrong`,
        SET_CLOCK,
      );
    const text = `the last full success was ${Math.max(0, days).toFixed(1)} days ago`;
    if (days <= HEARTBEAT_LIMIT_DAYS) return pass(text);
    return oldSuccessVerdict(text, await readLastRunNow(logDir, context), nowMs);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return noSuccessVerdict(path, await readLastRunNow(logDir, context), nowMs);
    return await unseenVerdict(path, error, of, context);
  }
}

/** The verdict where no success has left its file; one of the last run has, and it is gone. */
function noSuccessVerdict(path: string, lastRun: LastRunReading, nowMs: number): Verdict {
  const run = lastRun.status === "found" ? lastRun.run : null;
  if (run?.heartbeat !== "written")
    return warn("NO_RUN_YET", `no run has ended in full success yet: ${path} does not exist`, NEXT_MONDAY);
  const text = `${path} is gone, which the last success has left`;
  const isOver = isWeekClosed(run, Temporal.Instant.fromEpochMilliseconds(nowMs));
  return isOver
    ? warn("HEARTBEAT_MISSING", `${text}; the next run on a Monday writes it again`, NEXT_MONDAY)
    : warn("HEARTBEAT_MISSING", `${text}; another run today writes it again`, command(STEP_COMMANDS.run));
}

/** The verdict over a success that is too old; once its week is settled, there may be nothing to do before a Monday. */
function oldSuccessVerdict(text: string, lastRun: LastRunReading, nowMs: number): Verdict {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  const renewal = lastRun.status === "found" ? renewalOf(lastRun.run, now) : null;
  if (renewal === "monday")
    return warn(
      "HEARTBEAT_STALE",
      `${text}; the week since then is settled, the next run on a Monday renews it`,
      NEXT_MONDAY,
    );
  if (renewal === "run")
    return fail(
      "HEARTBEAT_STALE",
      `${text}; nothing is open, another run today renews it`,
      command(STEP_COMMANDS.run),
    );
  return fail("HEARTBEAT_STALE", text, "See the end of /var/log/opsctl/weekly.log for what failed");
}

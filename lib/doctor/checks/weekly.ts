import type postgres from "postgres";
import type { Settings } from "../../platform/config/load.ts";
import type { SettingName } from "../../platform/config/settings-table.ts";
import { checkReach } from "../../providers/application/reach.ts";
import { WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import { evolutionClient } from "../../providers/evolution/client.ts";
import { weeklyStore } from "../../weekly/database/store.ts";
import { emailSenderOf } from "../../weekly/delivery/email-sender.ts";
import { countRecipients } from "../../weekly/delivery/recipients.ts";
import { instanceNameOf } from "../../weekly/delivery/whatsapp.ts";
import { senderInstanceProblem } from "../../weekly/setup/gateway.ts";
import { logDirectoryProblem } from "../../weekly/setup/log-directory.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../finding.ts";
import { writableResult } from "./host/directory.ts";
import { withDatabase } from "./services/database.ts";
import { emailKeyResult } from "./services/email-key.ts";
import { gatewayFailure, keyResult } from "./services/gateway.ts";
import { checkWithSettings } from "./settings/configuration.ts";
import { ALERT_WEBHOOK_CHECK } from "./weekly/alert-webhook.ts";
import { WEEK_CHECKS } from "./weekly/week.ts";

const of = "weekly";
const GATEWAY = { required: ["GATEWAY_URL", "GATEWAY_ADMIN_KEY"] } as const;
const LOGS = { optional: ["OPSCTL_LOG_DIR"] } as const;

/** What the weekly run needs besides settings and database: senders, external services, log directory, last success. */
export const WEEKLY_CHECKS: readonly Check[] = [
  checkWithSettings(
    { command: of, name: "messaging gateway", service: "the messaging gateway" },
    GATEWAY,
    async (settings, context, signal) => [
      await keyResult(gatewayOf(settings, context), { context, command: of, names: WEEKLY_GATEWAY }, signal),
    ],
  ),
  checkOfSender(
    {
      ...{ name: "whatsapp sender", service: "the messaging gateway" },
      ...{ code: "sender_tenant_missing", variable: "WHATSAPP_REPORT_SENDER_TENANT_ID" },
    },
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
      ...{ name: "e-mail sender", service: "the database" },
      ...{ code: "email_sender_tenant_missing", variable: "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID" },
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
            `the central tenant's sender is not ready`,
            "Set tenant_config.config.email of the central tenant: an address, and verification_status verified",
          ),
        ];
      }),
  ),
  checkWithSettings(
    { command: of, name: "e-mail provider", service: "the e-mail provider" },
    { required: ["EMAIL_API_KEY"], optional: ["EMAIL_API_URL"] },
    async (settings, context, signal) => {
      const { EMAIL_API_URL: url, EMAIL_API_KEY: apiKey } = settings;
      const names = { url: "EMAIL_API_URL", key: "EMAIL_API_KEY" };
      return [await emailKeyResult({ of, url, apiKey, names, unclear: fail }, context, signal)];
    },
  ),
  {
    command: of,
    name: "recipients",
    service: "the database",
    run: (context) => withDatabase(of, context, async (sql) => [await recipientsResult(sql)]),
  },
  checkWithSettings(
    { command: of, name: "application", service: "the application" },
    { required: ["APP_BASE_URL"] },
    async (settings, context, signal) => {
      const timeoutMs = context.dependencies.callLimitMs;
      const reach = await checkReach({ baseUrl: new URL(settings.APP_BASE_URL), timeoutMs, signal });
      if (reach.status === "failed")
        return [fail(reach.code, `nothing answers at APP_BASE_URL`, "Check APP_BASE_URL and the network")];
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
    await logDirectoryResult(context, OPSCTL_LOG_DIR),
  ]),
  ...WEEK_CHECKS,
  ALERT_WEBHOOK_CHECK,
];

function gatewayOf(settings: Settings<(typeof GATEWAY)["required"][number]>, context: CheckContext) {
  const { GATEWAY_URL, GATEWAY_ADMIN_KEY: adminKey } = settings;
  return evolutionClient({
    baseUrl: new URL(GATEWAY_URL),
    adminKey,
    timeoutMs: context.dependencies.callLimitMs,
  });
}

type SenderVariable = "WHATSAPP_REPORT_SENDER_TENANT_ID" | "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID";

type Sender = { name: string; service: string; code: string; variable: SenderVariable };

/** A check of the tenant that sends, which the run itself misses only at its step: no other check names it. */
function checkOfSender<const R extends SettingName>(
  { name, service, code, variable }: Sender,
  { required }: { required: readonly R[] },
  run: (
    tenantId: string,
    settings: Settings<R>,
    context: CheckContext,
    signal: AbortSignal,
  ) => Promise<CheckResult[]>,
): Check {
  const check = { command: of, name, service } as const;
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
      return [fail(code, `${variable} is not set`, `Set ${variable} in ${file.path}`)];
    },
  };
}

/** Judged as the dry run judges it. */
async function logDirectoryResult(context: CheckContext, logDir: string): Promise<CheckResult> {
  const writable = await writableResult(of, context, logDir, "0755");
  const problem = writable.status === "pass" ? await logDirectoryProblem(logDir) : null;
  if (problem === null) return writable;
  const reason = `the success heartbeat cannot be written in ${logDir} (${problem})`;
  const isFull = problem === "ENOSPC";
  return fail(
    "HEARTBEAT_UNWRITABLE",
    reason,
    isFull ? "Make room on its disk (df -h)" : "Make it a directory that this account may write to",
  );
}

async function recipientsResult(sql: postgres.Sql): Promise<CheckResult> {
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

import type postgres from "postgres";
import { type CheckResult, command, fail, notChecked, notSetUp, pass, warn } from "../../health/result.ts";
import type { Settings } from "../../platform/config/load.ts";
import { checkReach } from "../../providers/application/reach.ts";
import { WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import { evolutionClient } from "../../providers/evolution/client.ts";
import { checkAlertWebhook } from "../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../weekly/announce/settings.ts";
import { weeklyStore } from "../../weekly/database/store.ts";
import { emailSenderOf } from "../../weekly/delivery/email-sender.ts";
import { countRecipients } from "../../weekly/delivery/recipients.ts";
import { instanceNameOf } from "../../weekly/delivery/whatsapp.ts";
import { senderInstanceProblem } from "../../weekly/setup/gateway.ts";
import { logDirectoryProblem } from "../../weekly/setup/log-directory.ts";
import type { Check, CheckContext } from "../context.ts";
import { checkOfDatabase, withDatabase } from "./database.ts";
import { writableResult } from "./host.ts";
import { emailKeyResult, gatewayFailure, keyResult } from "./senders.ts";
import { checkWithSettings, withoutSettings } from "./settings.ts";
import { statusCheck } from "./status.ts";

const of = "weekly";
const WHATSAPP_SENDER = "WHATSAPP_REPORT_SENDER_TENANT_ID";
const EMAIL_SENDER = "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID";
const GATEWAY = { required: ["GATEWAY_URL", "GATEWAY_ADMIN_KEY"] } as const;

/** What the weekly run needs besides settings and database: senders, external services, log directory, last success. */
export const WEEKLY_CHECKS: readonly Check[] = [
  checkWithSettings(
    { command: of, name: "messaging gateway", service: "the messaging gateway" },
    GATEWAY,
    async (settings, context, signal) => [
      await keyResult(gatewayOf(settings, context), WEEKLY_GATEWAY, signal),
    ],
  ),
  checkWithSettings(
    { command: of, name: "whatsapp sender", service: "the messaging gateway" },
    { ...GATEWAY, optional: [WHATSAPP_SENDER] },
    async (settings, context, signal) => {
      const tenantId = settings[WHATSAPP_SENDER];
      // The run itself misses it only at its step, so that no other check names it.
      if (tenantId === undefined) return [unset("sender_tenant_missing", WHATSAPP_SENDER)];
      return await withDatabase(of, context, async (sql) => {
        const { instanceName } = await weeklyStore(sql).readSenders(tenantId, null);
        const gateway = gatewayOf(settings, context);
        const problem = await senderInstanceProblem(gateway, instanceNameOf(instanceName), signal);
        return problem === null
          ? [pass("the sender's instance is open")]
          : [gatewayFailure(problem, WEEKLY_GATEWAY)];
      });
    },
  ),
  checkWithSettings(
    { command: of, name: "e-mail sender", service: "the database" },
    { optional: [EMAIL_SENDER] },
    async ({ [EMAIL_SENDER]: tenantId }, context) => {
      if (tenantId === undefined) return [unset("email_sender_tenant_missing", EMAIL_SENDER)];
      return await withDatabase(of, context, async (sql) => {
        const sender = emailSenderOf((await weeklyStore(sql).readSenders(null, tenantId)).emailSender);
        return sender.status === "ready"
          ? [pass("the e-mail sender is verified")]
          : [fail(sender.code, "the central tenant's sender is not ready", SET_SENDER)];
      });
    },
  ),
  checkWithSettings(
    { command: of, name: "e-mail provider", service: "the e-mail provider" },
    { required: ["EMAIL_API_KEY"], optional: ["EMAIL_API_URL"] },
    async (settings, context, signal) => {
      const { EMAIL_API_URL: url, EMAIL_API_KEY: apiKey } = settings;
      const names = { url: "EMAIL_API_URL", key: "EMAIL_API_KEY" };
      return [await emailKeyResult({ url, apiKey, names, unclear: fail }, context, signal)];
    },
  ),
  checkOfDatabase(of, "recipients", async (sql) => [await recipientsResult(sql)]),
  checkWithSettings(
    { command: of, name: "application", service: "the application" },
    { required: ["APP_BASE_URL"] },
    async (settings, context, signal) => {
      const timeoutMs = context.dependencies.callLimitMs;
      const reach = await checkReach({ baseUrl: new URL(settings.APP_BASE_URL), timeoutMs, signal });
      if (reach.status === "failed")
        return [fail(reach.code, "nothing answers at APP_BASE_URL", "Check APP_BASE_URL and the network")];
      return [pass("the application answers"), HAS_EFFECTS];
    },
  ),
  checkWithSettings(
    { command: of, name: "log directory" },
    { optional: ["OPSCTL_LOG_DIR"] },
    async ({ OPSCTL_LOG_DIR }) => [await logDirectoryResult(OPSCTL_LOG_DIR)],
  ),
  statusCheck(of, "the database"),
  {
    ...{ command: of, name: "alert webhook", service: "the alert webhook" },
    async run(context, signal) {
      const settings = await context.settings(of, async (env) => {
        const url = await loadAlertWebhook(env);
        return url === null ? null : { url, secret: await findWebhookSecret(env) };
      });
      if (settings.status !== "ok") return withoutSettings(settings);
      if (settings.value === null) return [notSetUp(ANNOUNCEMENT, `Set ${ALERT_WEBHOOK} in weekly.env`)];
      const timeoutMs = context.dependencies.callLimitMs;
      const state = await checkAlertWebhook({ ...settings.value, timeoutMs, signal });
      if (state.status === "ready") return [pass("the webhook answers and takes the secret")];
      const fix = state.cause === "http_401" ? SAME_SECRET : SEE_WEBHOOK;
      return [fail("ANNOUNCE_FAILED", `a failed run could not be announced, ${state.cause}`, fix)];
    },
  },
];

const HAS_EFFECTS = notChecked(
  "CHECK_HAS_EFFECTS",
  "its routes and TRIGGER_SECRET, because each call of them has an effect",
);
const ANNOUNCEMENT = "the announcement of a run that fails, to an alert webhook";
const SAME_SECRET = command(
  "opsctl secret set WEBHOOK_SECRET && systemctl reload opsctl-webhook.service",
  "Make WEBHOOK_SECRET here the one of the webhook:",
);
const SEE_WEBHOOK = command(
  "systemctl status opsctl-webhook",
  `Start the webhook, or correct ${ALERT_WEBHOOK} in weekly.env; how it is:`,
);
const SET_SENDER =
  "Set tenant_config.config.email of the central tenant: an address, and verification_status verified";

function gatewayOf(settings: Settings<(typeof GATEWAY)["required"][number]>, context: CheckContext) {
  const { GATEWAY_URL, GATEWAY_ADMIN_KEY: adminKey } = settings;
  const timeoutMs = context.dependencies.callLimitMs;
  return evolutionClient({ baseUrl: new URL(GATEWAY_URL), adminKey, timeoutMs });
}

function unset(code: string, variable: string): CheckResult {
  return fail(code, `${variable} is not set`, `Set ${variable} in weekly.env`);
}

/** Judged as the dry run judges it. */
async function logDirectoryResult(logDir: string): Promise<CheckResult> {
  const writable = await writableResult(of, logDir, "0750");
  const problem = writable.status === "pass" ? await logDirectoryProblem(logDir) : null;
  if (problem === null) return writable;
  const reason = `the success heartbeat cannot be written in ${logDir} (${problem})`;
  return fail("HEARTBEAT_UNWRITABLE", reason, "Make room on its disk, or open it to this account");
}

async function recipientsResult(sql: postgres.Sql): Promise<CheckResult> {
  const { owners, withoutPhone, withoutEmail } = await countRecipients(weeklyStore(sql));
  if (owners === 0) return warn("NO_OWNERS", "no owner is eligible: a run would have nothing to do", null);
  const counted = owners === 1 ? "1 owner" : `${owners} owners`;
  if (withoutPhone + withoutEmail === 0)
    return pass(`${counted}, ${owners === 1 ? "" : "all "}with a usable phone and e-mail`);
  const unusable = `${withoutPhone} without a usable phone, ${withoutEmail} without a usable e-mail`;
  return warn("RECIPIENTS_UNUSABLE", `${counted}: ${unusable}`, NAME_THEM);
}

const NAME_THEM = command(
  "opsctl weekly --dry-run --json",
  "Correct users.phone and users.email of the tenants that this names:",
);

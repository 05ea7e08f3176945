import { stat } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import { HEARTBEAT_FILE } from "../../host/heartbeat-file-name.ts";
import { NO_SENDER_INSTANCE, WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import { checkResendKey } from "../../providers/resend/key.ts";
import { loadWeeklyConfig, type WeeklyConfig } from "../../weekly/config.ts";
import { weeklyStore } from "../../weekly/database/store.ts";
import { emailSenderOf } from "../../weekly/delivery/email.ts";
import { countRecipients } from "../../weekly/delivery/recipients.ts";
import { instanceNameOf } from "../../weekly/delivery/whatsapp.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { connectProblem } from "../facts/tcp-port.ts";
import { fail, notChecked, pass, type Verdict, warn } from "../finding.ts";
import { withoutSettings } from "./configuration.ts";
import { withDatabase } from "./database.ts";
import { writableVerdict } from "./directory.ts";
import { gatewayFailure, gatewayOf, keyVerdict } from "./gateway.ts";

const command = "weekly";
const DAY_MS = 86_400_000;
/** There is a run every week; one more day to notice a missing one. */
const HEARTBEAT_LIMIT_DAYS = 8;

/** What the weekly run needs besides settings and database: senders, peers, its log directory, its last success. */
export const WEEKLY_CHECKS: readonly Check[] = [
  {
    command,
    name: "messaging gateway",
    async run(context, signal) {
      const settings = await partOf(context, "whatsapp");
      if (!settings?.whatsapp) return withoutSettings(command);
      const { gatewayUrl, adminKey } = settings.whatsapp;
      return [await keyVerdict(gatewayOf(context, gatewayUrl, adminKey), WEEKLY_GATEWAY, signal)];
    },
  },
  {
    command,
    name: "whatsapp sender",
    async run(context, signal) {
      const settings = await partOf(context, "whatsapp");
      if (!settings?.whatsapp) return withoutSettings(command);
      const { senderTenantId, gatewayUrl, adminKey } = settings.whatsapp;
      if (senderTenantId === null)
        return [await senderMissing(context, "sender_tenant_missing", "WHATSAPP_REPORT_SENDER_TENANT_ID")];
      return await withDatabase(command, context, async (sql) => {
        const sender = await weeklyStore(sql).readSenders(senderTenantId, null);
        const instanceName = instanceNameOf(sender.instanceName);
        if (instanceName === null) return [gatewayFailure(NO_SENDER_INSTANCE, WEEKLY_GATEWAY)];
        const state = await gatewayOf(context, gatewayUrl, adminKey).checkInstance(instanceName, signal);
        return [
          state.status === "open"
            ? pass("the sender's instance is open")
            : gatewayFailure(state, WEEKLY_GATEWAY),
        ];
      });
    },
  },
  {
    command,
    name: "e-mail sender",
    async run(context) {
      const settings = await partOf(context, "email");
      if (!settings?.email) return withoutSettings(command);
      const { senderTenantId } = settings.email;
      if (senderTenantId === null)
        return [
          await senderMissing(context, "email_sender_tenant_missing", "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID"),
        ];
      return await withDatabase(command, context, async (sql) => {
        const { emailSender } = await weeklyStore(sql).readSenders(null, senderTenantId);
        const sender = emailSenderOf(emailSender);
        if (sender.status === "ready") return [pass("the e-mail sender is verified")];
        return [
          fail(
            `${sender.code}: the central tenant's sender is not ready`,
            "Set tenant_config.config.email of the central tenant: an address, and verification_status verified",
          ),
        ];
      });
    },
  },
  {
    command,
    name: "e-mail provider",
    async run(context, signal) {
      const settings = await partOf(context, "email");
      if (!settings?.email) return withoutSettings(command);
      const { apiUrl, apiKey } = settings.email;
      const timeoutMs = context.dependencies.limitMs;
      const state = await checkResendKey({ baseUrl: new URL(apiUrl), apiKey, timeoutMs, signal });
      if (state.status === "accepted") return [pass("the provider answers and takes the key")];
      if (state.status === "refused")
        return [fail(`${state.code}: the provider refuses the key`, "Correct EMAIL_API_KEY")];
      return [
        fail(
          `${state.code}: the provider does not answer as it should`,
          "Check EMAIL_API_URL and the network",
        ),
      ];
    },
  },
  {
    command,
    name: "recipients",
    run: (context) => withDatabase(command, context, async (sql) => [await recipientsVerdict(sql)]),
  },
  {
    command,
    name: "application",
    async run(context, signal) {
      const settings = await partOf(context, "base");
      if (settings === null) return withoutSettings(command);
      const { protocol, hostname, port } = new URL(settings.appBaseUrl);
      const number = Number(port) || (protocol === "https:" ? 443 : 80);
      const problem = await connectProblem(hostname.replace(/^\[|\]$/g, ""), number, signal);
      if (problem !== null)
        return [fail(`no connection to the application: ${problem}`, "Check APP_BASE_URL and the network")];
      return [
        pass("the application takes connections"),
        notChecked("its routes and TRIGGER_SECRET, because every call of them does work"),
      ];
    },
  },
  {
    command,
    name: "log directory",
    async run(context) {
      const settings = await partOf(context, "base");
      if (settings === null) return withoutSettings(command);
      return [await writableVerdict(command, context, settings.logDir, "0755")];
    },
  },
  {
    command,
    name: "last success",
    async run(context) {
      const settings = await partOf(context, "base");
      if (settings === null) return withoutSettings(command);
      return [await heartbeatVerdict(join(settings.logDir, HEARTBEAT_FILE), context.dependencies.nowMs())];
    },
  },
];

/** The settings that one part needs, without those of the other channel; null when they are not complete. */
async function partOf(
  context: CheckContext,
  part: "base" | "whatsapp" | "email",
): Promise<WeeklyConfig | null> {
  const leftOut = { skipWhatsapp: part !== "whatsapp", skipEmail: part !== "email" };
  const settings = await context.settings(command, part, (env) => loadWeeklyConfig(env, leftOut));
  return settings.status === "ok" ? settings.value : null;
}

async function senderMissing(context: CheckContext, code: string, variable: string): Promise<Verdict> {
  const { file } = await context.environment(command);
  return fail(`${code}: ${variable} is not set`, `Set ${variable} in ${file.path}`);
}

async function recipientsVerdict(sql: postgres.Sql): Promise<Verdict> {
  const { owners, withoutPhone, withoutEmail } = await countRecipients(weeklyStore(sql));
  if (owners === 0) return warn("no owner is eligible: a run would have nothing to do", null);
  if (withoutPhone + withoutEmail === 0) return pass(`${owners} owners, all with a usable phone and e-mail`);
  return warn(
    `${owners} owners: ${withoutPhone} without a usable phone, ${withoutEmail} without a usable e-mail`,
    "opsctl weekly --dry-run --json names their tenants; mend users.phone and users.email",
  );
}

async function heartbeatVerdict(path: string, nowMs: number): Promise<Verdict> {
  try {
    const { mtimeMs } = await stat(path);
    const days = (nowMs - mtimeMs) / DAY_MS;
    const text = `the last full success was ${Math.max(0, days).toFixed(1)} days ago`;
    if (days <= HEARTBEAT_LIMIT_DAYS) return pass(text);
    return fail(text, "See the end of weekly.log in the log directory for what failed");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return warn(`no run has ended in full success yet: ${path} does not exist`);
    return notChecked(`${path} cannot be looked at: ${code}`, "sudo opsctl doctor weekly");
  }
}

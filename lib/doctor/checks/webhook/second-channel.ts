import { type CheckResult, command, notChecked, notSetUp, pass, warn } from "../../finding.ts";
import { emailKeyResult } from "../services/email-key.ts";
import { checkWithSettings } from "../settings/configuration.ts";

const WANTED = {
  optional: [
    ...(["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY"] as const),
    ...(["ALERT_EMAIL_API_URL", "OPSCTL_PING_URL"] as const),
  ],
} as const;

/** Whether alerts have a fallback channel, and a silence of the service would be noticed; nothing is sent or pinged. */
export const SECOND_CHANNEL_CHECK = checkWithSettings(
  { command: "webhook", name: "second channel", service: "the e-mail provider" },
  WANTED,
  async (settings, context, signal) => {
    const { file } = await context.environment("webhook");
    const ping = pingResult(file.path, settings.OPSCTL_PING_URL !== undefined);
    const { ALERT_EMAIL_TO: to, ALERT_EMAIL_FROM: from, ALERT_EMAIL_API_KEY: apiKey } = settings;
    if (apiKey === undefined) return [(to ?? from) ? NO_KEY : noneResult(file.path), ping];
    const names = { url: "ALERT_EMAIL_API_URL", key: "ALERT_EMAIL_API_KEY" };
    const key = { of: "webhook", url: settings.ALERT_EMAIL_API_URL, apiKey, names, unclear: warn } as const;
    return [await emailKeyResult(key, context, signal), ping];
  },
);

const NO_KEY = notChecked("PREREQUISITE_FAILED", "it needs ALERT_EMAIL_API_KEY, see configuration");

function noneResult(path: string): CheckResult {
  return warn(
    "FALLBACK_CHANNEL_MISSING",
    "no fallback channel is set up: while WhatsApp accepts nothing, nobody is notified",
    command(
      "opsctl secret set ALERT_EMAIL_API_KEY",
      `Set ALERT_EMAIL_TO and ALERT_EMAIL_FROM in ${path}, then:`,
    ),
  );
}

function pingResult(path: string, isSet: boolean): CheckResult {
  if (isSet) return pass("a check elsewhere is pinged");
  return notSetUp(
    "a ping, by whose absence a check elsewhere notices that this host is gone",
    command(
      "systemctl reload opsctl-webhook.service",
      `Set OPSCTL_PING_URL in ${path} to the address of a check, then:`,
    ),
  );
}

import { headerText, postgresUrl, type Rule } from "../config.ts";
import { OWNER_VARIABLE } from "../settings/owner-login.ts";

/**
 * When a command needs a secret: always, never, or when its settings have this variable (`equals`: with this value).
 */
export type Need = "required" | "optional" | { variable: string; equals?: string };

/** A command that reads a secret; `alsoIn` is another command's environment file in which it looks for the secret. */
export type SecretUse = { command: string; need: Need; alsoIn?: string };

/**
 * A secret of opsctl: the rule for its form, the account that reads its file, and the commands that use it.
 *
 * Shape: `fromEnvironment` is false for one that is never taken from the environment; `afterwards` is what has to be
 *        done elsewhere when it changes.
 */
export type KnownSecret = {
  name: string;
  rule: Rule<string>;
  reader: "opsctl" | "root";
  fromEnvironment: boolean;
  usedBy: readonly SecretUse[];
  afterwards?: string;
};

/** The webhook's environment file, which other commands ask for what they share with the webhook. */
const WEBHOOK_FILE = "webhook.env";

const use = (command: string, need: Need = "required", alsoIn?: string): SecretUse =>
  alsoIn === undefined ? { command, need } : { command, need, alsoIn };

const key = (name: string, ...usedBy: SecretUse[]): KnownSecret => ({
  ...{ name, rule: headerText, reader: "opsctl", fromEnvironment: true, usedBy },
});

/** Every secret that opsctl reads, in the order in which an installation needs them. */
export const KNOWN_SECRETS: readonly KnownSecret[] = [
  {
    ...key("DATABASE_URL", use("weekly"), use("reports"), use("deliveries"), use("migrate", "optional")),
    rule: postgresUrl,
  },
  { ...key(OWNER_VARIABLE, use("migrate", "optional")), rule: postgresUrl, reader: "root" },
  key("TRIGGER_SECRET", use("weekly")),
  key("GATEWAY_ADMIN_KEY", use("weekly"), use("deliveries", "optional")),
  key("EMAIL_API_KEY", use("weekly"), use("deliveries", "optional")),
  key("EMAIL_READ_API_KEY", use("deliveries", "optional")),
  {
    ...key(
      "SOCIAL_EDITORIALS_CRON_SECRET",
      use("weekly", { variable: "SOCIAL_EDITORIALS_ENABLED", equals: "1" }),
    ),
    fromEnvironment: false,
  },
  {
    ...key(
      "WEBHOOK_SECRET",
      use("webhook"),
      use("weekly", { variable: "OPSCTL_ALERT_WEBHOOK" }, WEBHOOK_FILE),
      use("alert-rules", "optional", WEBHOOK_FILE),
    ),
    afterwards: "opsctl alert-rules contact-point apply --rotate --url <address> gives it to the platform",
  },
  key("WEBHOOK_SECRET_PREVIOUS", use("webhook", "optional")),
  key("MESSAGING_API_KEY", use("webhook"), use("socket-monitor", "required", WEBHOOK_FILE)),
  key("ISSUE_TRACKER_TOKEN", use("webhook")),
  key("ALERT_EMAIL_API_KEY", use("webhook", { variable: "ALERT_EMAIL_TO" })),
  { ...key("OPSCTL_STATE_URL", use("webhook", "optional")), rule: postgresUrl },
  key("MONITORING_TOKEN", use("alert-rules")),
  { ...key("HOSTING_TOKEN", use("collect-metrics")), reader: "root" },
];

/** The secret of this name; null when opsctl has none. */
export function knownSecret(name: string): KnownSecret | null {
  return KNOWN_SECRETS.find((secret) => secret.name === name) ?? null;
}

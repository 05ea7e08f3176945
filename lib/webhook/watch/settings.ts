import * as v from "valibot";
import {
  httpBaseUrl,
  optional,
  optionalSecret,
  type Rule,
  required,
  requiredSecret,
} from "../../platform/config/config.ts";
import { PING_SETTINGS } from "../../platform/config/settings/ping-url.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { normalizeEmail } from "../../text/email-address.ts";

/** How the alarm is heard where WhatsApp is not, and by whom its silence is noticed; null where it is not set. */
export type WatchConfig = {
  secondChannel: SecondChannelConfig | null;
  pingUrl: Secret | null;
};

/** The second channel: a key of its own, because the weekly run may use up the quota of the other. */
export type SecondChannelConfig = { apiUrl: string; apiKey: Secret; from: string; to: string };

/** The values of `watchVariables`. */
export type WatchValues = {
  ALERT_EMAIL_TO: string | undefined;
  ALERT_EMAIL_FROM: string | undefined;
  ALERT_EMAIL_API_KEY: Secret | undefined;
  ALERT_EMAIL_API_URL: string;
  OPSCTL_PING_URL: Secret | undefined;
};

/** One plain address. */
const emailAddress: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const address = normalizeEmail(dataset.value);
        if (address !== null) return address;
        addIssue({ message: "is not one e-mail address" });
        return NEVER;
      }),
    ),
  expected: "one address without a name",
  // One with a whole domain would be masked.
  example: "ops@<your domain>",
};

/** Which of the variables of the second channel must be there, when one of them is. */
const TOGETHER = ["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY"] as const;

/**
 * The variables of the second channel and the ping, to be read with the others of the service.
 *
 * Behaviour: the three of the second channel are required when `env` has one of the two addresses.
 */
export function watchVariables(env: Environment) {
  const isWanted = [env.ALERT_EMAIL_TO, env.ALERT_EMAIL_FROM].some((text) => (text ?? "").trim() !== "");
  const address = isWanted ? required(emailAddress) : optional(emailAddress);
  return {
    ALERT_EMAIL_TO: address as ReturnType<typeof optional<string>>,
    ALERT_EMAIL_FROM: address as ReturnType<typeof optional<string>>,
    ALERT_EMAIL_API_KEY: (isWanted ? requiredSecret() : optionalSecret()) as ReturnType<
      typeof optionalSecret
    >,
    ALERT_EMAIL_API_URL: optional(httpBaseUrl, "https://api.resend.com"),
    ...PING_SETTINGS,
  };
}

/**
 * The settings of the second channel and the ping.
 *
 * Errors: CONFIG_INVALID for a key without the two addresses: it may be a secret file, which `env` does not show.
 */
export function watchConfigOf(values: WatchValues): WatchConfig {
  const { ALERT_EMAIL_TO: to, ALERT_EMAIL_FROM: from, ALERT_EMAIL_API_KEY: apiKey } = values;
  const missing = TOGETHER.filter((name) => values[name] === undefined);
  if (missing.length > 0 && missing.length < TOGETHER.length) throw incomplete(missing);
  const isSet = to !== undefined && from !== undefined && apiKey !== undefined;
  return {
    secondChannel: isSet ? { apiUrl: values.ALERT_EMAIL_API_URL, apiKey, from, to } : null,
    pingUrl: values.OPSCTL_PING_URL ?? null,
  };
}

function incomplete(missing: readonly string[]): OpsError {
  const problem = `is missing; the second channel needs all of ${TOGETHER.join(", ")}`;
  const lines = missing.map((name) => `  ${name}: ${problem}`);
  const count = lines.length === 1 ? "1 setting is" : `${lines.length} settings are`;
  return new OpsError({
    code: "CONFIG_INVALID",
    message: [`Cannot start: ${count} missing or invalid`, ...lines].join("\n"),
    hint: "Set all three, or none of them",
    settings: missing.map((name) => ({
      ...{ name, problem },
      kind: name === "ALERT_EMAIL_API_KEY" ? "secret" : "plain",
    })),
  });
}

import * as v from "valibot";
import {
  httpBaseUrl,
  loadConfig,
  optional,
  optionalSecret,
  type Rule,
  required,
  requiredSecret,
} from "../../platform/config/config.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { normalizeEmail } from "../../text/email-address.ts";

/** The second channel: a key of its own, because the weekly run may use up the quota of the other. */
export type SecondChannelConfig = { apiUrl: string; apiKey: Secret; from: string; to: string };

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
  expected:
    "one address without a name; ALERT_EMAIL_TO, ALERT_EMAIL_FROM and ALERT_EMAIL_API_KEY belong together",
  // One with a whole domain would be masked.
  example: "ops@<your domain>",
};

const SECOND_CHANNEL = {
  ALERT_EMAIL_TO: required(emailAddress),
  ALERT_EMAIL_FROM: required(emailAddress),
  ALERT_EMAIL_API_KEY: requiredSecret(),
  ALERT_EMAIL_API_URL: optional(httpBaseUrl, "https://api.resend.com"),
};

/**
 * Reads the settings of the second channel; null where neither an address nor the key is set.
 *
 * Errors: CONFIG_INVALID, also when one of the three is set without the others.
 */
export async function loadSecondChannel(env: Environment): Promise<SecondChannelConfig | null> {
  const hasAddress = [env.ALERT_EMAIL_TO, env.ALERT_EMAIL_FROM].some((text) => (text ?? "").trim() !== "");
  if (!hasAddress && !(await hasKey(env))) return null;
  const values = await loadConfig(SECOND_CHANNEL, env);
  return {
    apiUrl: values.ALERT_EMAIL_API_URL,
    apiKey: values.ALERT_EMAIL_API_KEY,
    from: values.ALERT_EMAIL_FROM,
    to: values.ALERT_EMAIL_TO,
  };
}

/** It may be a secret's file, which `env` does not show. */
async function hasKey(env: Environment): Promise<boolean> {
  const values = await loadConfig({ ALERT_EMAIL_API_KEY: optionalSecret() }, env);
  return values.ALERT_EMAIL_API_KEY !== undefined;
}

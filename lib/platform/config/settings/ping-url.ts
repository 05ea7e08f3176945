import * as v from "valibot";
import type { Environment } from "../../secrets/adapter.ts";
import { Secret } from "../../secrets/secret.ts";
import {
  isHttpUrl,
  loadConfig,
  mayCarrySecret,
  NO_HTTP_URL,
  optional,
  type Rule,
  UNENCRYPTED,
} from "../config.ts";

const MAX_URL_LENGTH = 2_000;

/**
 * The address that is told that a service or a run is well; it knows its sender by the address alone, so it is a
 * secret.
 *
 * Behaviour: `http://` is accepted for loopback addresses only, unless `OPSCTL_ALLOW_PLAIN_HTTP` is `1`.
 */
const pingUrl: Rule<Secret> = {
  schema: (env) =>
    v.pipe(
      v.string(),
      v.transform((text) => text.trim()),
      v.check((text) => text.length <= MAX_URL_LENGTH, `is longer than ${MAX_URL_LENGTH} characters`),
      v.check(isHttpUrl, NO_HTTP_URL),
      // A transformation comes only after checks that all have passed.
      v.transform((text) => ({ text, url: new URL(text) })),
      v.check(({ text }) => !text.includes("#"), "carries a fragment"),
      v.check(({ url }) => mayCarrySecret(url, env), UNENCRYPTED),
      v.transform(({ text }) => new Secret(text)),
    ),
  expected: "the whole http or https URL of a check",
  example: "https://hc-ping.com/<uuid>",
};

/**
 * The variable of the ping, which each command takes with a value of its own.
 *
 * Behaviour: taken from the command's own settings alone: one file of this name in the secrets' directory would give
 *            every command the same check, which would then say nothing of any of them.
 */
export const PING_SETTINGS = { OPSCTL_PING_URL: optional(pingUrl) };

/**
 * The address of the ping in these settings, or null.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadPingUrl(env: Environment): Promise<Secret | null> {
  return (await loadConfig(PING_SETTINGS, env)).OPSCTL_PING_URL ?? null;
}

import type { KnownSecret } from "../platform/config/known-secrets.ts";
import { faultOf } from "../platform/config/load.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { MAX_SECRET_BYTES } from "../platform/secrets/file.ts";
import { Secret } from "../platform/secrets/secret.ts";

/**
 * The value that was typed or piped for a secret, by the rule of the commands that need it.
 *
 * Behaviour: one trailing line break is dropped. No text about it quotes it or shows its length; an error names the
 *            rule.
 * Errors:    SECRET_MALFORMED.
 */
export function checkForm({ name, kind }: KnownSecret, bytes: Uint8Array, env: Environment): Secret {
  const text = decoded(bytes)?.replace(/\r?\n$/, "");
  const problem = text === undefined ? "is not UTF-8 text" : problemOf(text, bytes.length);
  if (text === undefined || problem !== null) throw malformed(name, kind, problem as string);
  const secret = new Secret(text);
  const fault = faultOf(kind, text, env);
  if (fault !== null) throw malformed(name, kind, fault);
  return secret;
}

/** Whether a value begins or ends with a blank, which is most often copied by mistake. */
export function hasOuterBlank(secret: Secret): boolean {
  return secret.open() !== secret.open().trim();
}

function problemOf(text: string, length: number): string | null {
  if (text.trim() === "") return "is empty";
  if (/[\r\n]/.test(text)) return "has more than one line";
  if (/\p{Cc}/u.test(text)) return "holds a control character";
  return length > MAX_SECRET_BYTES ? "is longer than any secret" : null;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function malformed(name: string, { expected, example }: KnownSecret["kind"], problem: string): OpsError {
  return new OpsError({
    code: "SECRET_MALFORMED",
    message: `Cannot set secret ${name}: the value ${problem}; nothing was changed`,
    hint: `Expected ${expected}${example === undefined ? "" : `, such as ${example}`}`,
  });
}

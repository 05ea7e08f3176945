/** The text printed in place of a secret. */
export const REDACTED = "<secret>";

/** Shorter values also occur in ordinary text: replacing them would only destroy the output. */
const MIN_LENGTH = 4;

const secrets = new Set<string>();
/** Matches every form of the secrets; null until `redact` is called after a change. */
let pattern: RegExp | null = null;

/** Makes `redact` hide `value` from now on, also percent-encoded and inside JSON; of a URL the password alone as well. */
export function registerSecret(value: string): void {
  if (secrets.has(value)) return;
  secrets.add(value);
  pattern = null;
}

/**
 * `text` without what must not be printed: registered secrets, credentials in any URL, secret-looking query parameters
 * and bearer headers become `<secret>`; whole e-mail addresses and international phone numbers become masks.
 */
export function redact(text: string): string {
  pattern ??= patternOf(secrets);
  let result = text.replace(pattern, REDACTED);
  for (const [rule, replacement] of RULES) result = result.replace(rule, replacement);
  return result;
}

/** `value` as JSON would have it, with every string in it redacted. Keys are ours and stay. */
export function redactValues(value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map(redactValues);
  if (value === null || typeof value !== "object") return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return redactValues(value.toJSON());
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactValues(item)]));
}

// Each begins where a word begins (lookbehind) or has a bounded length: an unbounded one, tried at every character,
// would take time by the square of a text's length.
const RULES: readonly (readonly [RegExp, string])[] = [
  // scheme://user:password@host; greedy, because an unescaped @ may be part of the password.
  [/(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/?#"'<>]*@/gi, `$1${REDACTED}@`],
  [/([?&][\w-]*(?:key|token|secret|password|passwd|signature)=)[^&\s"'<>#]+/gi, `$1${REDACTED}`],
  [/(authorization["']?\s*[:=]\s*["']?(?:bearer|basic)\s+)[^\s"',]+/gi, `$1${REDACTED}`],
  [/\b(bearer\s+)[\w.~+/=-]{16,}/gi, `$1${REDACTED}`],
  [
    /(?<![\p{L}\p{M}\p{N}._%+'-])([\p{L}\p{N}._%+'-])[\p{L}\p{M}\p{N}._%+'-]*@([\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+)/gu,
    "$1***@$2",
  ],
  // Only what can be nothing but a phone number: with a plus, or Brazil's prefix and length standing alone.
  [/\+\d[\d ().-]{6,18}(\d{4})(?!\d)/g, "***$1"],
  [/(?<![\w-])55\d{6,7}(\d{4})(?![\w-])/g, "***$1"],
];

/** Matches nothing where there are no secrets. */
function patternOf(values: ReadonlySet<string>): RegExp {
  const forms = [...values].flatMap((value) => [value, value.trim(), ...urlPassword(value)]).flatMap(formsOf);
  const known = [...new Set(forms)].filter((form) => form.length >= MIN_LENGTH);
  // The longest form first, or the rest of a URL would stay because its password was replaced before it.
  known.sort((a, b) => b.length - a.length);
  return new RegExp(known.length === 0 ? "(?!)" : known.map(RegExp.escape).join("|"), "g");
}

function formsOf(value: string): string[] {
  return [value, encodeURIComponent(value.toWellFormed()), JSON.stringify(value).slice(1, -1)];
}

function urlPassword(value: string): string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]*?:([^\s/?#]*)@/i.exec(value)?.[1];
  if (!password) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

import * as v from "valibot";
import { parseDatabaseUrl } from "../database/url.ts";
import { OpsError, type SettingProblem } from "../errors.ts";
import { isLoopback } from "../loopback.ts";
import { type Environment, notReadByRoot, secretAdapter, secretsDirectory } from "../secrets/adapter.ts";
import type { Secret } from "../secrets/secret.ts";
import { parseUuid } from "./uuid.ts";

/** What a variable may hold. The texts of `schema` are shown to people and must not quote the value. */
export type Rule<T> = {
  schema: (env: Environment) => v.GenericSchema<string, T>;
  expected: string;
  example?: string;
};

/** One variable of a command: its rule, and what its absence means. */
export type Variable<T> =
  | { kind: "plain"; rule: Rule<T>; absent: { problem: true } | { value: T } }
  | { kind: "secret"; rule: Rule<string>; required: boolean; fromEnvironment: boolean };

/** The variables of a command by their names. */
// biome-ignore lint/suspicious/noExplicitAny: each entry has a type of its own, which `Values` recovers
export type Variables = Record<string, Variable<any>>;

/** What `loadConfig` returns for `V`: one value for each variable, by the variable's name. */
export type Values<V extends Variables> = { [K in keyof V]: V[K] extends Variable<infer T> ? T : never };

/** A variable that must be there. */
export function required<T>(rule: Rule<T>): Variable<T> {
  return { kind: "plain", rule, absent: { problem: true } };
}

/** A variable that may be absent: then its value is `fallback`. */
export function optional<T>(rule: Rule<T>): Variable<T | undefined>;
export function optional<T>(rule: Rule<T>, fallback: T): Variable<T>;
export function optional<T>(rule: Rule<T>, fallback?: T): Variable<T | undefined> {
  return { kind: "plain", rule: rule as Rule<T | undefined>, absent: { value: fallback } };
}

/** A secret that must be found by the secret adapter. */
export function requiredSecret(rule: Rule<string> = headerText): Variable<Secret> {
  return { kind: "secret", rule, required: true, fromEnvironment: true };
}

/** A secret that may be absent, and that with `fromEnvironment: false` is never taken from the environment. */
export function optionalSecret(
  options: { rule?: Rule<string>; fromEnvironment?: boolean } = {},
): Variable<Secret | undefined> {
  return {
    kind: "secret",
    rule: options.rule ?? headerText,
    required: false,
    fromEnvironment: options.fromEnvironment ?? true,
  };
}

/**
 * Reads and checks all variables of a command, secrets included, in one pass.
 *
 * Behaviour: an empty or blank variable counts as absent.
 * Errors:    CONFIG_INVALID with every problem at once, a line each: the name, what is wrong, what is expected and an
 *            example. No value is ever quoted.
 */
export async function loadConfig<V extends Variables>(variables: V, env: Environment): Promise<Values<V>> {
  const problems = new Map<string, SettingProblem>();
  const texts = await readTexts(variables, env, problems);
  const result = v.safeParse(schemaOf(variables, texts, env), openSecrets(texts));
  for (const issue of result.issues ?? []) {
    const name = String(v.getDotPath(issue));
    problems.set(name, problemOf(name, issue.message, variables[name] as Variable<unknown>));
  }
  if (!result.success || problems.size > 0) throw configInvalid(variables, env, problems);
  const values = Object.entries(variables).map(([name, variable]) => {
    const text = texts.get(name);
    if (text === undefined) return [name, valueOfAbsent(variable)];
    return [name, typeof text === "string" ? result.output[name] : text];
  });
  return Object.fromEntries(values) as Values<V>;
}

/** Any text. */
export const anyText: Rule<string> = {
  schema: () => v.string(),
  expected: "a value",
};

/**
 * Text that a header can carry: every peer's secret is sent in one, and an unusable one must be found before the first
 * call.
 */
export const headerText: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.check((text) => /^[ -~]+$/.test(text), "holds a character that a header cannot carry"),
    ),
  expected: "printable ASCII on one line",
};

/** A UUID, in lower case afterwards. */
export const uuid: Rule<string> = {
  schema: () => parsed(parseUuid, "is not a UUID"),
  expected: "a UUID",
  example: "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",
};

/** A whole number from 1, written in digits alone. */
export const positiveInteger: Rule<number> = {
  schema: () => parsed(parsePositiveInteger, "is not a positive whole number"),
  expected: "a positive whole number",
  example: "20",
};

/** A positive multiple of 3: the editorial budget is spent in batches of three calls. */
export const positiveMultipleOfThree: Rule<number> = {
  schema: () =>
    v.pipe(
      parsed(parsePositiveInteger, "is not a positive whole number"),
      v.check((n) => n % 3 === 0, "is not a multiple of 3"),
    ),
  expected: "a positive multiple of 3",
  example: "30",
};

/** A switch: only the exact text `1` turns it on. */
export const exactlyOne: Rule<boolean> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.transform((text) => text === "1"),
    ),
  expected: "1, or nothing",
  example: "1",
};

/** An absolute path of the file system. */
export const absolutePath: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.check((text) => text.startsWith("/") && !text.includes("\0"), "is not an absolute path"),
    ),
  expected: "an absolute path",
  example: "/var/log/opsctl",
};

const MAX_URL_LENGTH = 400;

/**
 * The base of a peer's URLs, without its trailing slash afterwards. Every such peer is sent a secret, so `http://`
 * is accepted for loopback addresses only, unless `OPSCTL_ALLOW_PLAIN_HTTP` is `1`.
 */
export const httpBaseUrl: Rule<string> = {
  schema: (env) =>
    v.pipe(
      v.string(),
      v.check((text) => text.length <= MAX_URL_LENGTH, `is longer than ${MAX_URL_LENGTH} characters`),
      v.check((text) => text === text.trim() && isHttpUrl(text), NO_HTTP_URL),
      v.transform((text) => new URL(text)),
      v.check((url) => url.username === "" && url.password === "", "carries a user name or a password"),
      v.check((url) => !/[?#]/.test(url.href), "carries a query or a fragment"),
      v.check((url) => mayCarrySecret(url, env), UNENCRYPTED),
      v.transform((url) => url.href.replace(/\/+$/, "")),
    ),
  expected: "the http or https URL that the paths are added to",
  example: "https://app.example.com",
};

/** The URL of a PostgreSQL database. */
export const postgresUrl: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        const address = dataset.typed ? parseDatabaseUrl(dataset.value) : undefined;
        if (typeof address === "string") addIssue({ message: address });
      }),
    ),
  expected: "a postgres:// URL with special characters of the password percent-encoded",
  example: "postgres://<user>:<password>@db.example.com:5432/app?sslmode=verify-full",
};

function parsed<T>(parse: (text: string) => T | undefined, problem: string): v.GenericSchema<string, T> {
  return v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = parse(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: problem });
      return NEVER;
    }),
  );
}

function parsePositiveInteger(text: string): number | undefined {
  const value = /^[0-9]+$/.test(text) ? Number(text) : 0;
  return value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

/** Whether a text is an http or https URL. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** What is wrong with a text for which `isHttpUrl` is false. */
export const NO_HTTP_URL = "is not an http or https URL";

/** Whether a secret may be sent there: encrypted, or on this host, or where the operator accepts another way. */
export function mayCarrySecret({ protocol, hostname }: URL, env: Environment): boolean {
  return protocol === "https:" || isLoopback(hostname) || env.OPSCTL_ALLOW_PLAIN_HTTP === "1";
}

/** What is wrong with a URL for which `mayCarrySecret` is false. */
export const UNENCRYPTED =
  "would send a secret unencrypted; use https, or set OPSCTL_ALLOW_PLAIN_HTTP=1 to accept that";

/**
 * The text of every variable that is set; a secret stays closed, and a secret that cannot be read becomes a problem.
 */
async function readTexts(
  variables: Variables,
  env: Environment,
  problems: Map<string, SettingProblem>,
): Promise<Map<string, string | Secret>> {
  const resolve = secretAdapter(env);
  const texts = new Map<string, string | Secret>();
  const read = async ([name, variable]: [string, Variables[string]]) => {
    try {
      const text = variable.kind === "secret" ? await resolve(name, variable) : env[name];
      if (text !== undefined && (typeof text !== "string" || text.trim() !== "")) texts.set(name, text);
      else if (isRequired(variable))
        problems.set(name, problemOf(name, missing(name, variable, env), variable));
    } catch (error) {
      if (!(error instanceof OpsError)) throw error;
      const { message, code, hint } = error;
      problems.set(name, { name, problem: `${message} (${code})`, kind: "unread", fix: hint });
    }
  };
  await Promise.all(Object.entries(variables).map(read));
  return texts;
}

function missing(name: string, { kind }: Variable<unknown>, env: Environment): string {
  const note = kind === "secret" ? notReadByRoot(env, name) : null;
  return note === null ? "is missing" : `is missing (${note})`;
}

function schemaOf(variables: Variables, texts: ReadonlyMap<string, unknown>, env: Environment) {
  const present = Object.entries(variables).filter(([name]) => texts.has(name));
  return v.object(Object.fromEntries(present.map(([name, { rule }]) => [name, rule.schema(env)])));
}

function openSecrets(texts: ReadonlyMap<string, string | Secret>): Record<string, string> {
  const open = (text: string | Secret) => (typeof text === "string" ? text : text.open());
  return Object.fromEntries([...texts].map(([name, text]) => [name, open(text)]));
}

function isRequired(variable: Variables[string]): boolean {
  return variable.kind === "secret" ? variable.required : "problem" in variable.absent;
}

function valueOfAbsent(variable: Variables[string]): unknown {
  return variable.kind === "plain" && "value" in variable.absent ? variable.absent.value : undefined;
}

function problemOf(name: string, problem: string, { kind, rule }: Variable<unknown>): SettingProblem {
  const example = rule.example === undefined ? "" : `, such as ${rule.example}`;
  const form = rule === anyText ? "" : `; expected ${rule.expected}${example}`;
  return { name, problem: `${problem}${form}`, kind };
}

function lineOf({ name, problem, kind }: SettingProblem): string {
  return `  ${name}: ${problem}${kind === "secret" ? `; a secret: opsctl secret set ${name}` : ""}`;
}

function configInvalid(
  variables: Variables,
  env: Environment,
  problems: ReadonlyMap<string, SettingProblem>,
): OpsError {
  const settings = Object.keys(variables).flatMap((name) => problems.get(name) ?? []);
  const count = settings.length === 1 ? "1 setting is" : `${settings.length} settings are`;
  return new OpsError({
    code: "CONFIG_INVALID",
    message: [`Cannot start: ${count} missing or invalid`, ...settings.map(lineOf)].join("\n"),
    hint: settingsHint(settings, env),
    settings,
  });
}

/**
 * Where what is missing or wrong belongs, and a line for each place of a secret that cannot be read: to set such a secret
 * anew would not change its place. The line of a secret names its own command.
 */
export function settingsHint(settings: readonly SettingProblem[], env: Environment): string {
  const places = settings.flatMap(({ fix }) => fix ?? []);
  return [...whereToSet(settings, env), ...new Set(places)].join("\n");
}

function whereToSet(settings: readonly SettingProblem[], env: Environment): string[] {
  const toSet = settings.filter(({ kind }) => kind !== "unread");
  const secrets = toSet.filter(({ kind }) => kind === "secret");
  const files = `or as a file of its name in ${secretsDirectory(env)} with mode 0600`;
  if (toSet.length === 0) return [];
  if (secrets.length === 0) return [`Set ${toSet.length === 1 ? "it" : "them"} in the environment`];
  if (secrets.length < toSet.length)
    return [`Set them in the environment; a secret by its command, ${files}`];
  return [`Set ${toSet.length === 1 ? "it by that" : "each by its"} command, as root, ${files}`];
}

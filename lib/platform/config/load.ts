import * as v from "valibot";
import { OpsError, type SettingProblem } from "../errors.ts";
import { type Environment, secretAdapter, secretsDirectory } from "../secrets/adapter.ts";
import type { Secret } from "../secrets/secret.ts";
import { KINDS, type Kind, type KindValue } from "./kinds.ts";
import { settingsPath } from "./settings-file.ts";
import {
  SETTINGS,
  SETTINGS_FILES,
  type Setting,
  type SettingName,
  type SettingsCommand,
} from "./settings-table.ts";
import { webhookSettingsPath } from "./webhook-settings.ts";

type Row<N extends SettingName> = (typeof SETTINGS)[N];

/** The type of a setting's value where it is there. */
type Present<N extends SettingName> = Row<N> extends { secret: string } ? Secret : KindValue<Row<N>["kind"]>;

/** The type of an optional setting's value: one with a default always has a value. */
type Optional<N extends SettingName> =
  Row<N> extends { default: string } ? Present<N> : Present<N> | undefined;

/** What `loadSettings` returns: one value for each setting, by its name. */
export type Settings<R extends SettingName = never, O extends SettingName = never> = {
  [N in R]: Present<N>;
} & { [N in O]: Optional<N> };

/**
 * Reads and checks settings of a command, secrets included, in one pass.
 *
 * Shape:     `options` are values of the command line that are checked as settings are, and listed with them.
 * Behaviour: an empty or blank value counts as absent: its default counts, else it is undefined, or missing where it is
 *            `required`.
 * Errors:    CONFIG_INVALID with every problem at once, a line each: the name, what is wrong, what is expected and an
 *            example. No value is ever quoted.
 */
export async function loadSettings<
  const R extends SettingName = never,
  const O extends SettingName = never,
  const P extends string = never,
>(
  command: SettingsCommand,
  { required = [], optional = [], options }: Wanted<R, O, P>,
  env: Environment,
): Promise<Settings<R, O> & { [N in P]: string }> {
  const resolve = secretAdapter(env);
  const wanted = [...required, ...optional].map((name): Asked => {
    const row: Setting = SETTINGS[name];
    const own = SETTINGS_FILES[command];
    const isElsewhere = row.sharedFrom !== undefined && row.sharedFrom !== own;
    const file = isElsewhere ? webhookSettingsPath(env) : settingsPath(own, env);
    const isRequired = (required as readonly SettingName[]).includes(name);
    return { name, row, kind: kindOf(row), isRequired, file };
  });
  const given = Object.entries<{ kind: Kind<string>; text: string }>(options ?? {}).map(
    ([name, { kind, text }]): Asked => ({ name, row: null, kind, isRequired: true, text, file: null }),
  );
  const read = await Promise.all([...wanted, ...given].map((asked) => readOne(asked, env, resolve)));
  const problems = read.flatMap((one) => ("problem" in one ? [one.problem] : []));
  if (problems.length > 0) throw configInvalid(problems, env);
  return Object.fromEntries(
    read.flatMap((one) => ("value" in one ? [[one.name, one.value]] : [])),
  ) as Settings<R, O> & { [N in P]: string };
}

/** The settings that a call of `loadSettings` wants. */
type Wanted<R, O, P extends string> = {
  required?: readonly R[];
  optional?: readonly O[];
  options?: Readonly<Record<P, { kind: Kind<string>; text: string }>>;
};

/** One of them: `row` is null for an option, `file` where no file is read. */
type Asked = {
  name: string;
  row: Setting | null;
  kind: Kind<unknown>;
  isRequired: boolean;
  file: string | null;
  text?: string;
};
type One = { name: string; value: unknown } | { problem: SettingProblem };

/** The kind of a setting, with what its own row says of it. */
export function kindOf({ kind, expected, example }: Setting): Kind<unknown> {
  return {
    ...(KINDS[kind] as Kind<unknown>),
    ...(expected === undefined ? {} : { expected }),
    ...(example === undefined ? {} : { example }),
  };
}

/** What is wrong with a text as the value of this kind; null where nothing is. */
export function faultOf({ schema }: Kind<unknown>, text: string, env: Environment): string | null {
  return v.safeParse(schema(env), text).issues?.[0].message ?? null;
}

async function readOne(
  asked: Asked,
  env: Environment,
  resolve: ReturnType<typeof secretAdapter>,
): Promise<One> {
  const { name, row, kind } = asked;
  if (row?.secret === undefined) {
    const text = asked.text ?? env[name] ?? "";
    if (text.trim() !== "") return parsedOr(asked, text, env);
    if (row?.default !== undefined) return parsedOr(asked, row.default, env);
    return absent(asked, "is missing");
  }
  try {
    const secret = await resolve(name, { fromEnvironment: row.fromEnvironment !== false });
    if (secret === undefined) return absent(asked, "is missing");
    const fault = faultOf(kind, secret.open(), env);
    return fault === null ? { name, value: secret } : { problem: problemOf(asked, fault) };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    const { message, code, hint } = error;
    return { problem: { name, problem: `${message} (${code})`, kind: "unread", fix: hint, file: null } };
  }
}

function parsedOr(asked: Asked, text: string, env: Environment): One {
  const result = v.safeParse(asked.kind.schema(env), text);
  if (result.success) return { name: asked.name, value: result.output };
  return { problem: problemOf(asked, result.issues[0].message) };
}

function absent(asked: Asked, problem: string): One {
  return asked.isRequired ? { problem: problemOf(asked, problem) } : { name: asked.name, value: undefined };
}

function problemOf({ name, row, kind, file }: Asked, problem: string): SettingProblem {
  const example = kind.example === undefined ? "" : `, such as ${kind.example}`;
  const form = kind.expected === undefined ? "" : `; expected ${kind.expected}${example}`;
  const where = row === null ? "option" : row.secret === undefined ? "plain" : "secret";
  return { name, problem: `${problem}${form}`, kind: where, file };
}

function configInvalid(settings: readonly SettingProblem[], env: Environment): OpsError {
  const lines = settings.map(({ name, problem, kind }) => {
    const command = kind === "secret" ? `; a secret:\n    opsctl secret set ${name}` : "";
    return `  ${name}: ${problem}${command}`;
  });
  const count = settings.length === 1 ? "1 setting is" : `${settings.length} settings are`;
  return new OpsError({
    code: "CONFIG_INVALID",
    message: [`Cannot start: ${count} missing or invalid`, ...lines].join("\n"),
    hint: settingsHint(settings, env),
    settings,
  });
}

/** Where what is missing or wrong belongs, and what the place of a secret needs that cannot be read. */
function settingsHint(settings: readonly SettingProblem[], env: Environment): string {
  const of = (kind: SettingProblem["kind"]) => settings.filter((setting) => setting.kind === kind);
  const files = [...new Set(of("plain").map(({ file }) => file ?? "the environment"))];
  const [plain, secrets] = [of("plain").length, of("secret").length];
  return [
    ...(plain === 0 ? [] : [`Set ${plain === 1 ? "it" : "them"} in ${files.join(" and ")}`]),
    ...(secrets === 0
      ? []
      : [
          `Set ${secrets === 1 ? "the secret by its command" : "each secret by its command"}, as root, or as a file of its name in ${secretsDirectory(env)} with mode 0600`,
        ]),
    ...of("option").map(({ name }) => `Correct ${name}`),
    ...new Set(of("unread").flatMap(({ fix }) => fix ?? [])),
  ].join("\n");
}

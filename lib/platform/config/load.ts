import * as v from "valibot";
import { OpsError, type SettingProblem } from "../errors.ts";
import { type Environment, secretAdapter, secretsDirectory } from "../secrets/adapter.ts";
import { faultOf, KINDS, type Kind } from "./kinds.ts";
import { settingsPath, webhookSettingsPath, withWebhookSettings } from "./settings-file.ts";
import {
  COMMANDS,
  fileOf,
  isSecret,
  SETTINGS,
  type Setting,
  type SettingName,
  type SettingsCommand,
} from "./settings-table.ts";

type Row<N extends SettingName> = (typeof SETTINGS)[N];

/** The type of a setting's value where it is there. */
type Present<N extends SettingName> = v.InferOutput<(typeof KINDS)[Row<N>["kind"]]["schema"]>;

/** The type of an optional setting's value: a switch, and one with a default, always has a value. */
type Optional<N extends SettingName> =
  Row<N> extends { default: string } | { kind: "switch" } ? Present<N> : Present<N> | undefined;

/** What `loadSettings` returns: one value for each setting, by its name. */
export type Settings<R extends SettingName = never, O extends SettingName = never> = {
  [N in R]: Present<N>;
} & { [N in O]: Optional<N> };

/**
 * Reads and checks settings of a command, secrets included, in one pass.
 *
 * Behaviour: an empty or blank value counts as absent: its default counts, else it is undefined, or missing where it is
 *            `required`. What the command shares with the webhook is looked for last in the webhook's file.
 * Errors:    CONFIG_INVALID with every problem at once, a line each: the name, what is wrong, what is expected and an
 *            example. No value is ever quoted. ENV_FILE_INVALID where what is missing may be in a line of the webhook's
 *            file that cannot be read; those of `withWebhookSettings`.
 */
export async function loadSettings<const R extends SettingName = never, const O extends SettingName = never>(
  command: SettingsCommand,
  { required = [], optional = [] }: { required?: readonly R[]; optional?: readonly O[] },
  given: Environment,
): Promise<Settings<R, O>> {
  const names: readonly SettingName[] = [...required, ...optional];
  const own = COMMANDS[command].file;
  const isElsewhere = (name: SettingName) => fileOf(SETTINGS[name], command) !== own;
  const { env, broken } = names.some(isElsewhere)
    ? withWebhookSettings(command, given)
    : { env: given, broken: null };
  const resolve = secretAdapter(env);
  const values: Record<string, unknown> = {};
  const readOne = async (name: SettingName): Promise<SettingProblem | null> => {
    const row: Setting = SETTINGS[name];
    const kind: Kind<unknown> = KINDS[row.kind];
    const file = isElsewhere(name) ? webhookSettingsPath(env) : settingsPath(own, env);
    let text = env[name];
    try {
      if (isSecret(row)) text = (await resolve(name, { fromEnvironment: row.fromEnvironment }))?.open();
    } catch (error) {
      if (!(error instanceof OpsError)) throw error;
      return { name, problem: `${error.message} (${error.code})`, kind: "unread", fix: error.hint, file };
    }
    const present = text?.trim() ? text : row.kind === "switch" ? "off" : row.default;
    if (present === undefined && !(required as readonly SettingName[]).includes(name)) return null;
    if (present === undefined && broken !== null && isElsewhere(name)) throw broken;
    const fault = present === undefined ? "is missing" : faultOf(kind, present, env);
    const of = isSecret(row) ? "secret" : "plain";
    if (fault !== null) return { name, problem: `${fault}; expected ${kind.expected}`, kind: of, file };
    values[name] = v.parse(kind.schema, present);
    return null;
  };
  const problems = (await Promise.all(names.map(readOne))).filter((problem) => problem !== null);
  if (problems.length > 0) throw configInvalid(problems, env);
  return values as Settings<R, O>;
}

/**
 * A value of the command line that is checked as a setting is.
 *
 * Errors: CONFIG_INVALID.
 */
export function checkOption<T>(name: string, kind: Kind<T>, text: string, env: Environment): T {
  const fault = faultOf(kind, text, env);
  if (fault === null) return v.parse(kind.schema, text);
  const message = `Cannot start: ${name} ${fault}; expected ${kind.expected}`;
  throw new OpsError({ code: "CONFIG_INVALID", message, hint: `Correct ${name}` });
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
  const place = `as a file of its name in ${secretsDirectory(env)} with mode 0600`;
  return [
    ...files.map((file) => `Set ${of("plain").length === 1 ? "it" : "them"} in ${file}`),
    ...(of("secret").length === 0 ? [] : [`Set each secret by its command, as root, or ${place}`]),
    ...new Set(of("unread").flatMap(({ fix }) => fix ?? [])),
  ].join("\n");
}

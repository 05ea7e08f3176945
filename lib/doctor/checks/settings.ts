import { type CheckResult, command, fail, failure, notChecked, pass, warn } from "../../health/result.ts";
import { loadSettings, type Settings } from "../../platform/config/load.ts";
import { isOverruledBy } from "../../platform/config/owner-login.ts";
import { COMMANDS, type SettingName } from "../../platform/config/settings-table.ts";
import { sudoLine } from "../../platform/config/sudo-line.ts";
import { unknownSettings } from "../../platform/config/unknown-names.ts";
import { type Fix, OpsError } from "../../platform/errors.ts";
import { isClosedHere } from "../../platform/files/closed-file.ts";
import { PUT_RIGHT } from "../../platform/files/directory-fault.ts";
import { wasRoot } from "../../platform/privileges.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { EDITORIAL_ALIAS } from "../../weekly/config.ts";
import {
  type Check,
  type CheckContext,
  COMMAND_FACTS,
  type CommandEnvironment,
  type CommandName,
  type DoctorDependencies,
  type FailedSettings,
  type SecretSearch,
} from "../context.ts";

/** Whether the command's own loader accepts its settings: each problem is a finding. */
export function configurationCheck(
  of: CommandName,
  load: (env: Environment, dependencies: DoctorDependencies) => Promise<unknown>,
): Check {
  const run: Check["run"] = async (context) => {
    const settings = await context.settings(of, load);
    if (settings.status === "ok") return [pass("every setting is there and valid")];
    const { error, reportedBy } = settings;
    if (reportedBy !== "configuration") return withoutSettings(settings);
    if (error.settings === undefined) return [failure(error)];
    const { env, file } = await context.environment(of);
    const unread = error.settings.flatMap(({ name, kind }) => (kind === "unread" ? name : []));
    const results = error.settings.flatMap(({ name, problem, kind, file: own }) => {
      if (kind === "unread") return [];
      const fix = kind === "secret" ? setFix(name, env) : `Set ${name} in ${own ?? file.path}`;
      return fail("CONFIG_INVALID", `${name} ${problem}`, fix);
    });
    if (unread.length === 0) return results;
    const reason = `${unread.join(", ")} cannot be read, see secrets`;
    return [...results, notChecked("PREREQUISITE_FAILED", reason)];
  };
  return { command: of, name: "configuration", run };
}

/** A check that needs these settings, whatever the other ones of its command are; without them it names them. */
export function checkWithSettings<const R extends SettingName = never, const O extends SettingName = never>(
  check: Pick<Check, "command" | "name" | "service">,
  wanted: { required?: readonly R[]; optional?: readonly O[] },
  run: (settings: Settings<R, O>, context: CheckContext, signal: AbortSignal) => Promise<CheckResult[]>,
): Check {
  const { command: of } = check;
  const runWith: Check["run"] = async (context, signal) => {
    const settings = await context.settings(of, (env) => loadSettings(of, wanted, env));
    return settings.status === "ok" ? await run(settings.value, context, signal) : withoutSettings(settings);
  };
  return { ...check, run: runWith };
}

/** The result of a check whose settings are missing or wrong; another check says why. */
export function withoutSettings({ error, reportedBy }: FailedSettings): CheckResult[] {
  const names = error.settings?.map(({ name }) => name).join(", ") ?? "settings that cannot be read";
  return [notChecked("PREREQUISITE_FAILED", `it needs ${names}, see ${reportedBy}`)];
}

/** What sets a secret where its command looks: `opsctl secret set` does not read OPSCTL_SECRETS_DIR of a file. */
function setFix(name: string, { OPSCTL_SECRETS_DIR: named = "" }: Environment): Fix | string {
  const isInstalled = named.trim() === "" || named.trim() in PUT_RIGHT;
  return isInstalled ? command(`opsctl secret set ${name}`) : MOVED;
}

const MOVED =
  "Put it into a file of that name in the directory that OPSCTL_SECRETS_DIR names, of the account that reads it, mode 0600";

/** What replaces a secret that its service refuses. */
export function correctSecret(name: string): Fix {
  return command(
    `opsctl secret set ${name}`,
    `Correct ${name} at the place that the check secrets names, or set it as a file:`,
  );
}

/** Whether a command's environment file is there, can be used, and means what it seems to. */
export function environmentFileCheck(of: CommandName): Check {
  const run: Check["run"] = async (context) => {
    const { path, isThere, names, repeated, problem } = (await context.environment(of)).file;
    if (problem !== null) {
      const lines = problem.message.split("\n").map((line) => line.trim());
      // Who may not look is sent to root, which sees what the account sees.
      const isClosed = isClosedHere(problem.cause) && !wasRoot();
      const { env, envDir } = context.dependencies;
      const asRoot = command(sudoLine(`doctor ${of}`, { ...env, OPSCTL_ENV_DIR: envDir }));
      return [fail(problem.code, lines.join("; "), isClosed ? asRoot : (problem.hint ?? null))];
    }
    const { account } = COMMAND_FACTS[of];
    // The webhook's file has what the socket monitor needs.
    if (!isThere && (account === null || of === "socket-monitor"))
      return [pass(`${path} is not there; this process's own environment counts`)];
    if (!isThere) {
      const reason = `${path} does not exist: what this process has in its environment was looked at`;
      return [warn("ENV_FILE_MISSING", reason, `Create it for ${account} with mode 0600, then fill it in`)];
    }
    const results = [pass(`${path} can be read`)];
    if (repeated.length > 0) {
      const reason = `${path} gives two values to ${repeated.join(", ")}: the last one counts`;
      results.push(warn("SETTING_REPEATED", reason, `Remove one of the two in ${path}`));
    }
    for (const unknown of unknownSettings(COMMANDS[of].file, names)) {
      const fix = `Correct or remove that line in ${path}`;
      results.push(warn("SETTING_UNKNOWN", `${path} sets ${unknown}`, fix));
    }
    return results;
  };
  return { command: of, name: "environment file", run };
}

/** Where each secret of a command was found, what keeps it from being read, and what is not used. */
export function secretsCheck(of: CommandName): Check {
  const run: Check["run"] = async (context) => {
    const { env, file } = await context.environment(of);
    const { problem: error } = file;
    if (error !== null) return withoutSettings({ status: "failed", error, reportedBy: "environment file" });
    const results: CheckResult[] = [];
    const login = of === "migrate" ? context.dependencies.rootsLogin : null;
    if (login instanceof OpsError) results.push(...(login.settings === undefined ? [failure(login)] : []));
    else if (login !== null) {
      results.push(pass(`${login.variable} comes from ${login.source}`));
      if (isOverruledBy(login, env)) results.push(unused(login.variable, file.path));
    }
    for (const search of await context.secrets(of)) results.push(...searchResults(search, { env, file }));
    // A directory that is closed is one fault for all that is looked for in it.
    return results.filter((one, at) => results.findIndex(({ reason }) => reason === one.reason) === at);
  };
  return { command: of, name: "secrets", run };
}

function searchResults(
  { name, found, error }: SecretSearch,
  { env, file }: CommandEnvironment,
): CheckResult[] {
  const variable = file.names.includes(name) ? file.path : "the environment";
  const results = error === null ? [] : [failure(error)];
  if (found !== null) {
    const place = found.path ?? (found.layer === "command" ? "OPSCTL_SECRETS_COMMAND" : variable);
    results.push(pass(`${name} comes from ${place}`));
  }
  const isAlias = name === EDITORIAL_ALIAS;
  if (found?.overrules || (isAlias && env[name]?.trim())) results.push(unused(name, variable));
  // The check of the configuration says which others are missing.
  if (isAlias && found === null && error === null && env.SOCIAL_EDITORIALS_ENABLED === "1") {
    const reason = `editorials are enabled and ${name} is missing`;
    const fix = setFix(name, env);
    results.push(fail("SOCIAL_EDITORIALS_CRON_SECRET_MISSING", reason, fix));
  }
  return results;
}

function unused(name: string, place: string): CheckResult {
  return warn("SECRET_UNUSED", `${name} in ${place} is not used`, "Remove it there");
}

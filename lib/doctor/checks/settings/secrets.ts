import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isOverruledBy } from "../../../platform/config/owner-login.ts";
import { unknownSecrets } from "../../../platform/config/unknown-names.ts";
import { OpsError } from "../../../platform/errors.ts";
import { secretsDirectory } from "../../../platform/secrets/adapter.ts";
import { EDITORIAL_ALIAS } from "../../../weekly/config.ts";
import type { Check } from "../../context/check.ts";
import type { CommandEnvironment, SecretSearch } from "../../context/check-context.ts";
import { secretsOf } from "../../context/command-facts.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { type CheckResult, type CommandName, fail, failure, pass, warn } from "../../finding.ts";
import { withoutSettings } from "./configuration.ts";
import { setSecret } from "./correct-setting.ts";

/** Where each secret of a command was found, what keeps it from being read, and what looks like one and is not used. */
export function secretsCheck(command: CommandName): Check {
  return {
    command,
    name: "secrets",
    async run(context) {
      const environment = await context.environment(command);
      const { problem: error } = environment.file;
      if (error !== null) return withoutSettings({ status: "failed", error, reportedBy: "environment file" });
      const searches = await context.secrets(command);
      return [
        ...(command === "migrate" ? rootsLoginResults(context.dependencies, environment) : []),
        ...searches.flatMap((search) => searchResults(search, environment)),
        ...(await unknownResults(command, environment)),
      ];
    },
  };
}

function searchResults({ name, found, error }: SecretSearch, { env, file }: CommandEnvironment) {
  const results: CheckResult[] = [];
  const variable = file.names.includes(name) ? file.path : "the environment";
  if (error !== null) results.push(failure(error));
  if (found !== null) {
    const place = found.path ?? (found.layer === "command" ? "OPSCTL_SECRETS_COMMAND" : variable);
    results.push(pass(`${name} comes from ${place}`));
  }
  const isAlias = name === EDITORIAL_ALIAS;
  if (found?.overrules || (isAlias && env[name]?.trim()))
    results.push(warn("SECRET_UNUSED", `${name} in ${variable} is not used`, "Remove it there"));
  // The check of the configuration says which others are missing.
  if (isAlias && found === null && error === null && env.SOCIAL_EDITORIALS_ENABLED === "1") {
    const code = "SOCIAL_EDITORIALS_CRON_SECRET_MISSING";
    results.push(fail(code, `editorials are enabled and ${name} is missing`, setSecret(name, env)));
  }
  return results;
}

/** Files that were meant to be secrets of this command, and are read by nothing. */
async function unknownResults(command: CommandName, { env, file }: CommandEnvironment) {
  const directory = secretsDirectory(env);
  const files = await readdir(directory).catch(() => []);
  const secrets = secretsOf(command).map(({ name }) => name);
  return unknownSecrets(files, secrets).map(({ name, meant }) => {
    const reason = `${join(directory, name)} is read by nothing`;
    return meant === null
      ? warn("SECRET_UNKNOWN", reason, `Set ${name} in ${file.path} instead`)
      : warn("SECRET_UNKNOWN", `${reason}; did you mean ${meant}?`, `Rename the file to ${meant}`);
  });
}

/** The owner's login that root keeps for itself. */
function rootsLoginResults({ rootsLogin: login }: DoctorDependencies, { env, file }: CommandEnvironment) {
  if (login === null) return [];
  if (login instanceof OpsError) return [failure(login)];
  const results = [pass(`${login.variable} comes from ${login.source}`)];
  if (isOverruledBy(login, env))
    results.push(warn("SECRET_UNUSED", `${login.variable} in ${file.path} is not used`, "Remove it there"));
  return results;
}

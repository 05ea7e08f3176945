import { isOverruledBy } from "../../../platform/config/owner-login.ts";
import { OpsError } from "../../../platform/errors.ts";
import { EDITORIAL_ALIAS } from "../../../weekly/config.ts";
import type { Check } from "../../context/check.ts";
import type { CommandEnvironment, SecretSearch } from "../../context/check-context.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { type CheckResult, type CommandName, fail, failure, pass, warn } from "../../finding.ts";
import { withoutSettings } from "./configuration.ts";
import { setSecret } from "./correct-setting.ts";

/** Where each secret of a command was found, what keeps it from being read, and what is not used. */
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

/** The owner's login that root keeps for itself. */
function rootsLoginResults({ rootsLogin: login }: DoctorDependencies, { env, file }: CommandEnvironment) {
  if (login === null) return [];
  if (login instanceof OpsError) return [failure(login)];
  const results = [pass(`${login.variable} comes from ${login.source}`)];
  if (isOverruledBy(login, env))
    results.push(warn("SECRET_UNUSED", `${login.variable} in ${file.path} is not used`, "Remove it there"));
  return results;
}

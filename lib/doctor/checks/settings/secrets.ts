import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isOverruledBy } from "../../../platform/config/owner-login.ts";
import { unknownSecrets } from "../../../platform/config/unknown-names.ts";
import { OpsError } from "../../../platform/errors.ts";
import { secretsDirectory } from "../../../platform/secrets/adapter.ts";
import { EDITORIAL_ALIAS } from "../../../weekly/config.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext, SecretSearch } from "../../context/check-context.ts";
import { secretsOf } from "../../context/command-facts.ts";
import { closedResult, isForAnotherAccount } from "../../facts/reader.ts";
import { type CheckResult, type CommandName, fail, failure, pass, warn } from "../../finding.ts";
import { setSecret } from "./correct-setting.ts";

/** Where each secret of a command was found, what keeps it from being read, and what looks like one and is not used. */
export function secretsCheck(command: CommandName): Check {
  return {
    command,
    name: "secrets",
    async run(context) {
      const results: CheckResult[] = command === "migrate" ? await rootsLoginResults(context) : [];
      const closed: string[] = [];
      for (const search of await context.secrets(command)) {
        if (await isForAnotherAccount(search.error, command, context)) closed.push(search.name);
        else results.push(...(await searchResults(search, command, context)));
      }
      if (closed.length > 0)
        results.push(closedResult(`this account may not look for ${closed.join(", ")}`, command, context));
      return [...results, ...(await unknownResults(command, context))];
    },
  };
}

async function searchResults(
  { name, found, error }: SecretSearch,
  command: CommandName,
  context: CheckContext,
): Promise<CheckResult[]> {
  if (error !== null) return [failure(error)];
  const { env, file } = await context.environment(command);
  const isVariable = (env[name] ?? "").trim() !== "";
  const variable = file.names.includes(name) ? file.path : "the environment";
  const unused = warn(
    "SECRET_UNUSED",
    `${name} is set in ${variable} and is not used there`,
    "Remove it there; what counts is the secret's own file or command",
  );
  if (found === null) {
    // The check of the configuration says whether another one is required.
    if (name !== EDITORIAL_ALIAS) return [];
    const reason = `editorials are enabled and ${name} is missing`;
    const missing = fail("SOCIAL_EDITORIALS_CRON_SECRET_MISSING", reason, setSecret(name, env));
    return [...(isVariable ? [unused] : []), ...(env.SOCIAL_EDITORIALS_ENABLED === "1" ? [missing] : [])];
  }
  const own = found.path ?? (found.layer === "command" ? "OPSCTL_SECRETS_COMMAND" : variable);
  const isUnused = found.overrules || (name === EDITORIAL_ALIAS && isVariable);
  return [pass(`${name} comes from ${own}`), ...(isUnused ? [unused] : [])];
}

/** Files that were meant to be secrets of this command, and are read by nothing. */
async function unknownResults(command: CommandName, context: CheckContext): Promise<CheckResult[]> {
  const { env, file } = await context.environment(command);
  const directory = secretsDirectory(env);
  const files = await readdir(directory).catch(() => []);
  const secrets = secretsOf(command).map(({ name }) => name);
  return unknownSecrets(files, secrets).map(({ name, meant }) =>
    warn(
      "SECRET_UNKNOWN",
      `${join(directory, name)} is read by nothing${meant === null ? "" : `; did you mean ${meant}?`}`,
      meant === null ? `Set ${name} in ${file.path} instead` : `Rename the file to ${meant}`,
    ),
  );
}

/** The owner's login that root keeps for itself. */
async function rootsLoginResults(context: CheckContext): Promise<CheckResult[]> {
  const { rootsLogin: login } = context.dependencies;
  if (login === null) return [];
  if (login instanceof OpsError) return [failure(login)];
  const { env, file } = await context.environment("migrate");
  const found = pass(`${login.variable} comes from ${login.source}`);
  if (!isOverruledBy(login, env)) return [found];
  const reason = `${login.variable} of ${file.path} is not used: ${login.source} comes first`;
  return [found, warn("SECRET_UNUSED", reason, `Remove it from ${file.path}`)];
}

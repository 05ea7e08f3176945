import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isOverruledBy } from "../../../platform/config/owner-login.ts";
import { unknownSecrets } from "../../../platform/config/unknown-names.ts";
import { type FoundSecret, secretsDirectory } from "../../../platform/secrets/adapter.ts";
import { EDITORIAL_ALIAS } from "../../../weekly/config.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { secretsOf } from "../../context/command-facts.ts";
import { closedWithFile, isForAnotherAccount } from "../../facts/reader.ts";
import type { SecretSearch } from "../../facts/secret-search.ts";
import { type CheckResult, type CommandName, fail, failure, pass, warn } from "../../finding.ts";
import { secretFix } from "./correct-setting.ts";

/** Where each secret of a command was found, and what is wrong with its file. */
export function secretsCheck(command: CommandName): Check {
  return {
    command,
    name: "secrets",
    async run(context) {
      const searches = await context.secrets(command);
      const closed = await closedTo(command, context, searches);
      const open = searches.filter((search) => !closed.includes(search));
      const results = await Promise.all(open.map((search) => verdictOf(command, context, search)));
      const alias =
        command === "weekly" ? aliasResults(searches, (await context.environment(command)).env) : [];
      const ofRoot = command === "migrate" ? await rootsLoginResults(context) : [];
      const odd = await oddResults(command, context);
      const unseen = await closedResults(command, context, closed);
      return [...ofRoot, ...unseen, ...results.flat(), ...alias, ...odd];
    },
  };
}

/** Secrets that only another account can look for: this process is an ordinary one. */
async function closedTo(
  command: CommandName,
  context: CheckContext,
  searches: readonly SecretSearch[],
): Promise<SecretSearch[]> {
  const isClosed = await Promise.all(
    searches.map(({ error }) => isForAnotherAccount(error, command, context)),
  );
  return searches.filter((_, at) => isClosed[at]);
}

async function closedResults(
  command: CommandName,
  context: CheckContext,
  closed: readonly SecretSearch[],
): Promise<CheckResult[]> {
  if (closed.length === 0) return [];
  const names = closed.map(({ name }) => name).join(", ");
  return [await closedWithFile(`this account may not look for ${names}`, command, context)];
}

/** Files that were meant to be secrets of this command, and are read by nothing. */
async function oddResults(command: CommandName, context: CheckContext): Promise<CheckResult[]> {
  const { env, file } = await context.environment(command);
  const directory = secretsDirectory(env);
  const files = await readdir(directory).catch(() => []);
  const secrets = secretsOf(command).map(({ name }) => name);
  return unknownSecrets(files, secrets).map(({ name, meant }) => {
    const path = join(directory, name);
    return meant === null
      ? warn(
          "SECRET_UNKNOWN",
          `${path} has no effect: ${name} is no secret`,
          `Set ${name} in ${file.path} instead`,
        )
      : warn(
          "SECRET_UNKNOWN",
          `${path} is read by nothing; did you mean ${meant}?`,
          `Rename the file to ${meant}`,
        );
  });
}

/** The owner's login that root keeps for itself. */
async function rootsLoginResults(context: CheckContext): Promise<CheckResult[]> {
  const { rootsLogin } = context.dependencies;
  if (rootsLogin === null) return [];
  if (rootsLogin.status === "failed") return [failure(rootsLogin.error)];
  const { variable, source } = rootsLogin.login;
  const place = source.replace("secret file ", "");
  const { env, file } = await context.environment("migrate");
  const found = pass(`${variable} comes from ${place}`);
  if (!isOverruledBy(rootsLogin.login, env)) return [found];
  const reason = `${variable} of ${file.path} is not used: ${place} comes first`;
  return [found, warn("SECRET_UNUSED", reason, `Remove it from ${file.path}`)];
}

async function verdictOf(
  command: CommandName,
  context: CheckContext,
  search: SecretSearch,
): Promise<CheckResult[]> {
  const { name, found, error } = search;
  if (error !== null) return [failure(error)];
  // The check of the configuration says whether it is required.
  if (found === null) return [];
  if (found.overrules)
    return [...(await placeResults(command, context, name, found)), overruledResult(name, found)];
  return await placeResults(command, context, name, found);
}

function overruledResult(name: string, { path }: FoundSecret): CheckResult {
  const source = path ?? "OPSCTL_SECRETS_COMMAND";
  return warn(
    "SECRET_UNUSED",
    `${name} is set to another value as a variable, which is not used: ${source} comes first`,
    null,
  );
}

async function placeResults(
  command: CommandName,
  context: CheckContext,
  name: string,
  found: FoundSecret,
): Promise<CheckResult[]> {
  if (found.layer === "command") return [pass(`${name} comes from OPSCTL_SECRETS_COMMAND`)];
  if (found.path === null) {
    const { file } = await context.environment(command);
    const isOfFile = file.variables.get(name) === found.secret.open();
    return [pass(`${name} comes from ${isOfFile ? file.path : "the environment"}`)];
  }
  return [pass(`${name} comes from ${found.path}`)];
}

/** Whether the editorial route has a secret of its own that does not come from the environment. */
function aliasResults(
  searches: readonly SecretSearch[],
  env: Readonly<Record<string, string | undefined>>,
): CheckResult[] {
  const search = (name: string) => searches.find((one) => one.name === name);
  const [alias, trigger] = [search(EDITORIAL_ALIAS), search("TRIGGER_SECRET")];
  const results: CheckResult[] = [];
  if ((env[EDITORIAL_ALIAS] ?? "").trim() !== "")
    results.push(
      warn("SECRET_UNUSED", `${EDITORIAL_ALIAS} is set in the environment and is not used there`, {
        ...secretFix("weekly", EDITORIAL_ALIAS, env),
        text: "Remove it there, and set it as a file",
      }),
    );
  if (env.SOCIAL_EDITORIALS_ENABLED === "1" && alias?.found === null && alias.error === null)
    results.push(
      fail(
        "SOCIAL_EDITORIALS_CRON_SECRET_MISSING",
        `editorials are enabled and ${EDITORIAL_ALIAS} is missing`,
        secretFix("weekly", EDITORIAL_ALIAS, env),
      ),
    );
  if (alias?.found && trigger?.found && alias.found.secret.open() === trigger.found.secret.open())
    results.push(
      fail(
        "SOCIAL_EDITORIALS_CRON_SECRET_REUSED",
        `${EDITORIAL_ALIAS} has the same value as TRIGGER_SECRET`,
        "Give the editorial route a secret of its own, equal to CRON_SECRET in the editorial worker",
      ),
    );
  return results;
}

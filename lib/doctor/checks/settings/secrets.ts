import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { plainSettingsOfFile } from "../../../platform/config/names/known-settings.ts";
import { oddSecrets } from "../../../platform/config/names/odd-secrets.ts";
import { isOverruledBy } from "../../../platform/config/settings/owner-login.ts";
import { type FoundSecret, secretsDirectory } from "../../../platform/secrets/adapter.ts";
import { EDITORIAL_ALIAS } from "../../../weekly/config.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { accessOf, openingLine } from "../../facts/access.ts";
import { closedVerdict, isForAnotherAccount } from "../../facts/reader.ts";
import type { SecretSearch } from "../../facts/secret-search.ts";
import { type CommandName, fail, pass, type Verdict, warn } from "../../finding.ts";
import { reasonOf, secretMend } from "../../finding-reason.ts";

const OPEN_LOGIN =
  "other processes of opsctl can read the owner's login while it is used: this host does not let root pass on a capability that keeps them out";

/** Where each secret of a command was found, and whether the command's account can read it there. */
export function secretsCheck(command: CommandName): Check {
  return {
    command,
    name: "secrets",
    async run(context) {
      const searches = await context.secrets(command);
      const closed = await closedTo(command, context, searches);
      const open = searches.filter((search) => !closed.includes(search));
      const verdicts = await Promise.all(open.map((search) => verdictOf(command, context, search)));
      const alias =
        command === "weekly" ? aliasVerdicts(searches, (await context.environment(command)).env) : [];
      const handed = command === "migrate" ? await handedVerdicts(context) : [];
      const odd = await oddVerdicts(command, context);
      const unseen = await closedVerdicts(command, context, closed);
      return [...handed, ...unseen, ...verdicts.flat(), ...alias, ...odd];
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

async function closedVerdicts(
  command: CommandName,
  context: CheckContext,
  closed: readonly SecretSearch[],
): Promise<Verdict[]> {
  if (closed.length === 0) return [];
  const names = closed.map(({ name }) => name).join(", ");
  return [await closedVerdict(`this account may not look for ${names}`, command, context)];
}

/** Files that were meant to be secrets of this command, and are read by nothing. */
async function oddVerdicts(command: CommandName, context: CheckContext): Promise<Verdict[]> {
  const { env, file } = await context.environment(command);
  const directory = secretsDirectory(env);
  const files = await readdir(directory).catch(() => []);
  const found = oddSecrets(files, {
    secrets: COMMAND_FACTS[command].secrets.map(({ name }) => name),
    plain: plainSettingsOfFile(basename(file.path)),
  });
  return found.map(({ name, meant }) => {
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
          `mv -nT ${path} ${join(directory, meant)}`,
        );
  });
}

/** The owner's login that root keeps for itself. */
async function handedVerdicts(context: CheckContext): Promise<Verdict[]> {
  const handed = context.dependencies.handedLogin;
  if (handed === null) return [];
  if (handed.status === "failed")
    return [fail(handed.error.code, reasonOf(handed.error), handed.error.hint ?? null)];
  const { variable, source } = handed.login;
  const place = source.replace("secret file ", "");
  const { env, file } = await context.environment("migrate");
  const unused = isOverruledBy(handed.login, env)
    ? [
        warn(
          "SECRET_UNUSED",
          `${variable} of ${file.path} is not used: ${place} comes first`,
          `Remove it from ${file.path}`,
        ),
      ]
    : [];
  const open = handed.isClosed ? [] : [warn("OWNER_LOGIN_EXPOSED", OPEN_LOGIN)];
  return [pass(`${variable} comes from ${place}`), ...unused, ...open];
}

async function verdictOf(
  command: CommandName,
  context: CheckContext,
  search: SecretSearch,
): Promise<Verdict[]> {
  const { name, found, error } = search;
  if (error !== null) return [fail(error.code, reasonOf(error), error.hint ?? null)];
  // The check of the configuration says whether it is required.
  if (found === null) return [];
  if (found.overrules)
    return [...(await placeVerdicts(command, context, name, found)), overruledVerdict(name, found)];
  return await placeVerdicts(command, context, name, found);
}

function overruledVerdict(name: string, { path }: FoundSecret): Verdict {
  const source = path ?? "OPSCTL_SECRETS_COMMAND";
  return warn(
    "SECRET_UNUSED",
    `${name} is set to another value as a variable, which is not used: ${source} comes first`,
    null,
  );
}

async function placeVerdicts(
  command: CommandName,
  context: CheckContext,
  name: string,
  found: FoundSecret,
): Promise<Verdict[]> {
  if (found.layer === "command") return [pass(`${name} comes from OPSCTL_SECRETS_COMMAND`)];
  if (found.path === null) {
    const { file } = await context.environment(command);
    const isOfFile = file.variables.get(name) === found.secret.open();
    return [pass(`${name} comes from ${isOfFile ? file.path : "the environment"}`)];
  }
  const { account: accountName } = COMMAND_FACTS[command];
  const account = accountName === null ? null : await context.account(accountName);
  const access =
    account === null ? { status: "allowed" as const } : await accessOf(found.path, account, "read");
  if (access.status === "allowed") return [pass(`${name} comes from ${found.path}`)];
  return [
    fail(
      "SECRET_FILE_UNREADABLE",
      `${name}: ${access.text}`,
      openingLine(access, found.path, `${accountName}`),
    ),
  ];
}

/** Whether the editorial route has a secret of its own that does not come from the environment. */
function aliasVerdicts(
  searches: readonly SecretSearch[],
  env: Readonly<Record<string, string | undefined>>,
): Verdict[] {
  const search = (name: string) => searches.find((one) => one.name === name);
  const [alias, trigger] = [search(EDITORIAL_ALIAS), search("TRIGGER_SECRET")];
  const verdicts: Verdict[] = [];
  if ((env[EDITORIAL_ALIAS] ?? "").trim() !== "")
    verdicts.push(
      warn(
        "SECRET_UNUSED",
        `${EDITORIAL_ALIAS} is set in the environment and is not used there`,
        `Remove it there, then: ${secretMend("weekly", EDITORIAL_ALIAS, env)}`,
      ),
    );
  if (env.SOCIAL_EDITORIALS_ENABLED === "1" && alias?.found === null && alias.error === null)
    verdicts.push(
      fail(
        "SOCIAL_EDITORIALS_CRON_SECRET_MISSING",
        `SOCIAL_EDITORIALS_CRON_SECRET_MISSING: editorials are enabled and ${EDITORIAL_ALIAS} is missing`,
        secretMend("weekly", EDITORIAL_ALIAS, env),
      ),
    );
  if (alias?.found && trigger?.found && alias.found.secret.open() === trigger.found.secret.open())
    verdicts.push(
      fail(
        "SOCIAL_EDITORIALS_CRON_SECRET_REUSED",
        `SOCIAL_EDITORIALS_CRON_SECRET_REUSED: ${EDITORIAL_ALIAS} has the same value as TRIGGER_SECRET`,
        "Give the editorial route a secret of its own, equal to CRON_SECRET in the editorial worker",
      ),
    );
  return verdicts;
}

import type { KnownSecret } from "../platform/config/known-secrets.ts";
import { commandFile, settingOf } from "../platform/config/settings-table.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { hasOuterBlank } from "./check-form.ts";
import type { FileFacts } from "./file-facts.ts";
import type { Place } from "./place.ts";

/** The commands that take a new value at a reload of the webhook's service. */
const WEBHOOK = "webhook";
const RELOAD = "systemctl reload opsctl-webhook.service";
const RESTART = "systemctl restart opsctl-webhook.service";

/** The commands to run so that a new value counts; empty where the next start of each command is enough. */
export function nextSteps(secret: KnownSecret): string[] {
  const { afterwards } = secret;
  const service = serviceStep(secret);
  return [...(service === null ? [] : [service]), ...(afterwards === undefined ? [] : [afterwards])];
}

/** The command with which the webhook's service takes a new value; null for a secret that it does not use. */
export function serviceStep({ name, usedBy }: Pick<KnownSecret, "name" | "usedBy">): string | null {
  if (!usedBy.some(({ command }) => command === WEBHOOK)) return null;
  return settingOf(name)?.restart ? RESTART : RELOAD;
}

/** What a person should look at in a value that was set, a sentence each. */
export function warningsAbout(
  { reader }: KnownSecret,
  { value, isForRoot }: { value: Secret; isForRoot: boolean },
): string[] {
  return [
    ...(hasOuterBlank(value) ? ["the value begins or ends with a blank"] : []),
    ...(isForRoot && reader !== "root"
      ? ["the account opsctl cannot read it there: only a command that stays root does"]
      : []),
  ];
}

/**
 * What else has a value for a secret whose file was just written, or looks for the file elsewhere: a sentence each.
 *
 * Behaviour: says which of the two counts.
 */
export function conflictsOf(
  secret: KnownSecret,
  { path, directory }: Place,
  found: { env: Environment; facts: readonly FileFacts[]; credential: string | null },
): string[] {
  const { env, facts, credential } = found;
  const { name } = secret;
  const isInEnvironment = (env[name] ?? "").trim() !== "";
  return [
    ...(credential === null
      ? []
      : [`the webhook goes on using its systemd credential ${credential}, which comes before a file`]),
    ...(isInEnvironment
      ? [`${name} is set in this terminal's environment: it is not used any more, unset ${name}`]
      : []),
    ...facts.filter(({ secrets }) => secrets.includes(name)).map((file) => alsoSet(secret, file)),
    ...facts.flatMap((file) => looksElsewhere(secret, file, { path, directory })),
  ];
}

function alsoSet({ name, fromEnvironment }: KnownSecret, { path }: FileFacts): string {
  return `${name} is also set in ${path}: it is not used${fromEnvironment ? " any more" : " there"}, remove it there`;
}

function looksElsewhere(
  { usedBy }: KnownSecret,
  { name: file, path: filePath, secretsDir }: FileFacts,
  { path, directory }: Pick<Place, "path" | "directory">,
): string[] {
  const reads = usedBy.filter(({ command }) => commandFile(command) === file).map(({ command }) => command);
  if (reads.length === 0 || secretsDir === null || secretsDir.replace(/(?<=.)\/+$/, "") === directory)
    return [];
  return [
    `${reads.join(", ")} does not read ${path}: ${filePath} names ${JSON.stringify(secretsDir)}. ` +
      "Correct OPSCTL_SECRETS_DIR there, or set the secret with that variable in front",
  ];
}

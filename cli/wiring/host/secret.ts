import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Refusal } from "../../../lib/doctor/advice/path-of-reporter.ts";
import { secretsDirectoryRefusal } from "../../../lib/doctor/advice/secrets-directory.ts";
import { isRoot } from "../../../lib/platform/account/account.ts";
import { findServiceAccount, type ServiceAccount } from "../../../lib/platform/account/service-account.ts";
import { DEFAULT_ENV_DIR } from "../../../lib/platform/config/env-files/command-file.ts";
import type { KnownSecret } from "../../../lib/platform/config/names/known-secrets.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { conflictsOf } from "../../../lib/secret/after-set.ts";
import { prepareDirectory } from "../../../lib/secret/directory.ts";
import type { ListInput } from "../../../lib/secret/list.ts";
import { type Place, placeOf } from "../../../lib/secret/place.ts";
import { readersOf } from "../../../lib/secret/reader.ts";
import { secretFacts } from "../../child-process/secret-facts.ts";

/** For a look; `secret set`, which has to know, waits longer. */
const ACCOUNT_LIMIT_MS = 2_000;
/** Where systemd keeps the credentials of the webhook's service while it runs. */
const WEBHOOK_CREDENTIALS = "/run/credentials/opsctl-webhook.service";

/**
 * The place of a secret, made ready for its file, and the service account of this host.
 *
 * Errors: ROOT_NEEDED, ACCOUNT_UNAVAILABLE, CONFIG_INVALID, FILE_UNTRUSTED, SECRET_NOT_WRITTEN; before anything is
 *         read.
 */
export async function openSecretPlace(
  secret: KnownSecret,
  { isForRoot, env }: { isForRoot: boolean; env: Environment },
): Promise<{ place: Place; account: ServiceAccount | null }> {
  const { account, reader } = await readersOf(secret, { isForRoot, env });
  const place = placeOf(secret, reader, env);
  prepareDirectory(place);
  return { place, account };
}

/** What else has a value for a secret whose file was written, a sentence each. */
export async function whatElseHas(
  secret: KnownSecret,
  { place, account, env }: { place: Place; account: ServiceAccount | null; env: Environment },
): Promise<string[]> {
  const { facts, unread } = await secretFacts(envDirectory(env), account);
  const conflicts = conflictsOf(secret, place, {
    ...{ env, facts, credential: webhookCredential(secret) },
    refusalOf: directoryJudge(account, env),
  });
  if (unread === null) return conflicts;
  return [
    ...conflicts,
    `the environment files of the account opsctl could not be read (${unread.why}): look whether one of them sets it, too`,
  ];
}

/**
 * What `secret list` is made of on this host.
 *
 * Errors: ACCOUNT_UNAVAILABLE when the host does not say whether it has the account.
 */
export async function secretListInput(env: Environment): Promise<ListInput> {
  const account = await findServiceAccount(ACCOUNT_LIMIT_MS);
  const { facts, unread } = await secretFacts(envDirectory(env), isRoot() ? account : null);
  const refusalOf = directoryJudge(account, env);
  return { env, account, facts, unread, refusalOf, credentialOf: webhookCredential, nowMs: Date.now() };
}

/** Judges a directory of secrets that an environment file names, as doctor judges paths for root. */
function directoryJudge(
  account: ServiceAccount | null,
  env: Environment,
): (directory: string) => Refusal | null {
  const envDir = envDirectory(env);
  return (directory) => secretsDirectoryRefusal(directory, { account, envDir });
}

/** The directory of the environment files; null where they are turned off. */
function envDirectory({ OPSCTL_ENV_DIR }: Environment): string | null {
  const directory = (OPSCTL_ENV_DIR ?? DEFAULT_ENV_DIR).trim();
  return directory === "" ? null : directory;
}

/** The credential with which the running webhook got a secret; null where it has none. */
function webhookCredential({ name, usedBy }: KnownSecret): string | null {
  const path = join(WEBHOOK_CREDENTIALS, name);
  return usedBy.some(({ command }) => command === "webhook") && isThere(path) ? path : null;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

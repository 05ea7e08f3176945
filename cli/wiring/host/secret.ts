import { lstatSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_SECRETS, type KnownSecret } from "../../../lib/platform/config/known-secrets.ts";
import { DEFAULT_ENV_DIR } from "../../../lib/platform/config/settings-table.ts";
import { inWords } from "../../../lib/platform/errors.ts";
import { type Account, becomeAccount, findServiceAccount, isRoot } from "../../../lib/platform/privileges.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { conflictsOf } from "../../../lib/secret/after-set.ts";
import { prepareDirectory } from "../../../lib/secret/directory.ts";
import {
  ACCOUNT_COMMANDS,
  type FileFacts,
  ROOT_COMMANDS,
  readFileFacts,
} from "../../../lib/secret/file-facts.ts";
import { type ListInput, placesOf, type Unread } from "../../../lib/secret/list.ts";
import { type Look, lookAt } from "../../../lib/secret/look.ts";
import { type Place, placeOf } from "../../../lib/secret/place.ts";
import { readersOf } from "../../../lib/secret/reader.ts";
import { asOpsError } from "../../framework/failure.ts";

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
): Promise<{ place: Place; account: Account | null }> {
  const { account, reader } = await readersOf(secret, { isForRoot, env });
  const place = placeOf(secret, reader, env);
  prepareDirectory(place);
  return { place, account };
}

/** What else has a value for a secret whose file was written, a sentence each; root becomes the account for it. */
export function whatElseHas(
  secret: KnownSecret,
  { place, account, env }: { place: Place; account: Account | null; env: Environment },
): string[] {
  const credential = webhookCredential(secret);
  const { facts, unread } = readFacts(account, env);
  const conflicts = conflictsOf(secret, place, { env, facts, credential });
  if (unread === null) return conflicts;
  return [
    ...conflicts,
    `the environment files of the account opsctl could not be read (${unread.why}): look whether one of them sets it, too`,
  ];
}

/**
 * What `secret list` is made of on this host.
 *
 * Behaviour: root looks at its own directory first, then becomes the account, and looks at the account's as that.
 * Errors:    ACCOUNT_UNAVAILABLE when the host does not say whether it has the account.
 */
export async function secretListInput(env: Environment): Promise<ListInput> {
  const account = await findServiceAccount();
  // Root's own secrets leave the environment with root's rights.
  const given = { ...env };
  const seen = new Map<string, Look>();
  const see = (place: Place): Look => {
    const key = `${place.folder.owner.name} ${place.directory}`;
    const look = seen.get(key) ?? lookAt(place);
    seen.set(key, look);
    return look;
  };
  const roots = KNOWN_SECRETS.filter(({ reader }) => reader === "root");
  const facts = readFileFacts(ROOT_COMMANDS, envDirectory(env));
  for (const secret of isRoot() ? roots : []) placesOf(secret, { env, account, facts }).map(see);
  const credentials = new Map(KNOWN_SECRETS.map((secret) => [secret.name, webhookCredential(secret)]));
  return {
    ...{ env: given, account, ...readFacts(account, env), lookAt: see, nowMs: Date.now() },
    credentialOf: ({ name }) => credentials.get(name) ?? null,
  };
}

/** What the environment files say about secrets: root reads its own, and those of the account once it has become it. */
function readFacts(account: Account | null, env: Environment): { facts: FileFacts[]; unread: Unread | null } {
  const directory = envDirectory(env);
  const own = readFileFacts(ROOT_COMMANDS, directory);
  try {
    if (isRoot() && account !== null) becomeAccount(account);
    return { facts: [...readFileFacts(ACCOUNT_COMMANDS, directory), ...own], unread: null };
  } catch (error) {
    const { code, message, hint = "See what it says" } = asOpsError(error, "become the account");
    return { facts: own, unread: { why: `${code}: ${message}`, fix: inWords(hint)! } };
  }
}

/** The directory of the environment files; empty where they are turned off. */
function envDirectory({ OPSCTL_ENV_DIR }: Environment): string {
  return (OPSCTL_ENV_DIR ?? DEFAULT_ENV_DIR).trim();
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

import { isUtf8 } from "node:buffer";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { faultOf, KINDS } from "../platform/config/kinds.ts";
import type { KnownSecret } from "../platform/config/known-secrets.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { OpsError } from "../platform/errors.ts";
import { writeFileAtomic } from "../platform/files/atomic-file.ts";
import { directoryFault, kindOf } from "../platform/files/directory-fault.ts";
import { findServiceAccount, isRoot } from "../platform/privileges.ts";
import { type Environment, MAX_SECRET_BYTES, secretValue } from "../platform/secrets/adapter.ts";
import { Secret } from "../platform/secrets/secret.ts";
import { OWN_DIRECTORY, type Place, placeOf, webhookCredential } from "./place.ts";

/**
 * The place of a secret that root sets; with `isForRoot` root keeps it for itself.
 *
 * Errors: ROOT_NEEDED for any process but root's; ACCOUNT_UNAVAILABLE where the account that reads the secret is missing.
 */
export async function placeToSet(
  secret: KnownSecret,
  { isForRoot, env }: { isForRoot: boolean; env: Environment },
): Promise<Place> {
  const { name } = secret;
  const refusal = (code: string, why: string, hint: string) =>
    new OpsError({ code, message: `Cannot set secret ${name}: ${why}; nothing was read or written`, hint });
  const line = sudoLine(`secret set ${name}${isForRoot ? " --root" : ""}`, env);
  if (!isRoot())
    throw refusal("ROOT_NEEDED", "only root may write where it belongs", `Run it as root: ${line}`);
  if (isForRoot || secret.reader === "root") return placeOf(secret, null, env);
  const account = await findServiceAccount();
  if (account !== null) return placeOf(secret, account, env);
  const hint =
    "make install makes it; --root keeps the secret for root, which runs the commands where there is none";
  throw refusal("ACCOUNT_UNAVAILABLE", "this host has no account opsctl, which is to read it", hint);
}

/**
 * Makes the directory of a secret where it is missing, asks for the value and writes its file, whole and with owner and
 * mode from the first moment.
 *
 * Shape:  what is reported: `next` are the commands to run so that the value counts.
 * Errors: FILE_UNTRUSTED where an account but root could exchange the file, SECRET_NOT_WRITTEN, and those of `ask`; the
 *         old file is unchanged.
 */
export async function setSecret(place: Place, secret: KnownSecret, ask: () => Promise<Secret>) {
  const { path, reader } = place;
  orNotWritten(place, () => prepareDirectory(place));
  const value = await ask();
  const isNew = !existsSync(path);
  orNotWritten(place, () => writeFileAtomic(path, value.open(), { mode: 0o600, owner: reader }));
  const usedBy = secret.usedBy.map(({ command }) => command);
  const restart = secret.restart ? "restart" : "reload";
  const service = usedBy.includes("webhook") && `systemctl ${restart} opsctl-webhook.service`;
  const credential = webhookCredential(secret);
  const isForOther =
    reader.uid === 0 && secret.reader !== "root" && (await findServiceAccount().catch(() => null)) !== null;
  const isPadded = value.open() !== value.open().trim();
  return {
    ...{ name: secret.name, path, owner: `${reader.name}:${reader.name}`, mode: "0600", isNew, usedBy },
    next: [service, secret.afterwards].filter((step) => typeof step === "string"),
    warnings: [
      isForOther && OTHER_READER,
      isPadded && "the value begins or ends with a blank",
      credential !== null && `the webhook uses its systemd credential ${credential}, not this file`,
    ].filter((warning) => warning !== false),
  };
}

const OTHER_READER = "opsctl's commands run as the account opsctl, and do not read what is set with --root";

/** Refuses a directory in which an account but root could exchange the file, and what is no regular file in its place. */
function prepareDirectory(place: Place): void {
  const { directory, path, reader } = place;
  const isThere = existsSync(directory);
  const fault = directoryFault(isThere ? directory : dirname(directory), { trusted: [0] });
  if (fault !== null) {
    const message = `Cannot set a secret in ${directory}: ${fault.why}; nothing was read or written`;
    throw new OpsError({ code: "FILE_UNTRUSTED", message, hint: fault.command ?? OWN_DIRECTORY });
  }
  if (!isThere) {
    mkdirSync(directory, { mode: 0o700, recursive: true });
    chownSync(directory, 0, reader.gid);
    chmodSync(directory, reader.gid === 0 ? 0o700 : 0o750);
  }
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false)
    throw notWritten(path, `it is ${kindOf(found)}`, "Look at it, then remove it and set the secret again");
}

function orNotWritten({ path }: Place, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof OpsError) throw error;
    throw notWritten(path, String((error as NodeJS.ErrnoException).code));
  }
}

const SEE_DISK =
  "See that the directory above it is there (make install), and its disk not full or read-only";

function notWritten(path: string, why: string, hint = SEE_DISK): OpsError {
  const message = `Cannot write ${path}: ${why}; what was there before is unchanged`;
  return new OpsError({ code: "SECRET_NOT_WRITTEN", message, hint });
}

/** The value that was typed or piped for a secret; SECRET_MALFORMED neither quotes a wrong one nor shows its length. */
export function checkForm({ name, kind }: KnownSecret, bytes: Uint8Array, env: Environment): Secret {
  const refuse = (problem: string | null) => {
    const message = `Cannot set secret ${name}: the value ${problem}; nothing was changed`;
    if (problem !== null)
      throw new OpsError({ code: "SECRET_MALFORMED", message, hint: `Expected ${KINDS[kind].expected}` });
  };
  refuse(bytes.length > MAX_SECRET_BYTES ? "is longer than any secret" : null);
  refuse(isUtf8(bytes) ? null : "is not UTF-8 text");
  const secret = new Secret(secretValue(name, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
  refuse(secret.open() === "" ? "is empty" : faultOf(KINDS[kind], secret.open(), env));
  return secret;
}

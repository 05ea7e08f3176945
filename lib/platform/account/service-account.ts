import { accessSync, constants, readFileSync } from "node:fs";
import { OpsError } from "../errors.ts";
import { startProgram } from "../start-program.ts";

/** The account of the service, as `make install` makes it. */
export const SERVICE_ACCOUNT = "opsctl";

/** An account of this host that is not root. */
export type ServiceAccount = { name: string; uid: number; gid: number; home: string };

const GETENT = ["/usr/bin/getent", "/bin/getent"];
const NOT_FOUND = 2;

/**
 * The service account of this host; null where there is none, or where that name has root's number.
 *
 * Behaviour: asks `getent`, which knows directory services too, and reads /etc/passwd where there is none.
 * Errors:    ACCOUNT_UNAVAILABLE when `getent` fails.
 * Source:    getent(1), passwd(5).
 */
export async function findServiceAccount(): Promise<ServiceAccount | null> {
  const getent = firstProgram(GETENT);
  const lines = getent === null ? readFileSync("/etc/passwd", "utf8") : await ask(getent);
  return serviceAccountIn(lines);
}

/**
 * The service account in the lines of /etc/passwd; null when it is missing or is root.
 *
 * Errors: ACCOUNT_UNAVAILABLE when its line has no numbers.
 */
export function serviceAccountIn(lines: string): ServiceAccount | null {
  const line = lines.split("\n").find((one) => one.startsWith(`${SERVICE_ACCOUNT}:`));
  if (line === undefined) return null;
  const [name = "", , uid = "", gid = "", , home = ""] = line.split(":");
  if (!isNumber(uid) || !isNumber(gid)) throw unknownAccount("its line in the host's list has no numbers");
  return Number(uid) === 0 ? null : { name, uid: Number(uid), gid: Number(gid), home: home || "/" };
}

/** The first of these programs that this host has; null when it has none. */
export function firstProgram(paths: readonly string[]): string | null {
  return paths.find(isExecutable) ?? null;
}

async function ask(getent: string): Promise<string> {
  const { output, ended } = await startProgram(getent, ["passwd", SERVICE_ACCOUNT], {});
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) text += decoder.decode(chunk, { stream: true });
  const status = await ended;
  if (status === NOT_FOUND) return "";
  if (status !== 0) throw unknownAccount(`getent ended with ${status ?? "a signal"}`);
  return text;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function unknownAccount(reason: string): OpsError {
  return new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot look up the account ${SERVICE_ACCOUNT}: ${reason}`,
    hint: `Run getent passwd ${SERVICE_ACCOUNT}; --as-is keeps root's privileges`,
  });
}

import { accessSync, constants, readFileSync } from "node:fs";
import { OpsError } from "../errors.ts";
import type { RunningProgram } from "../start-program.ts";
import { unlessLate } from "../time-limit.ts";
import { type AccountLine, accountList, MAX_NUMBER } from "./host-lists.ts";
import { asksFilesFirst, hasFilesAlone, nameSources } from "./name-sources.ts";

/** The account of the service, as `make install` makes it. */
export const SERVICE_ACCOUNT = "opsctl";

/** An account of this host that is not root. */
export type ServiceAccount = { name: string; uid: number; gid: number; home: string };

const GETENT = ["/usr/bin/getent", "/bin/getent"];
const NOT_FOUND = 2;
/** The number of root, and of its group. */
const ROOT = 0;
/** A directory service that is away lets `getent` wait for minutes. */
export const LOOK_UP_LIMIT_MS = 5_000;
/** The beginning of the advice about it; a command that asks the service follows. */
export const SERVICE_AWAY = "See that the directory services of /etc/nsswitch.conf answer:";

/**
 * The service account of this host; null where there is none, or where that name has root's number.
 *
 * Behaviour: reads /etc/passwd where the host has no other list of accounts, or asks that one first and finds the
 *            account there. Else asks `getent`, which knows directory services too and takes as long as half the start
 *            of a command.
 * Units:     `limitMs` is in milliseconds.
 * Errors:    ACCOUNT_UNAVAILABLE when `getent` fails, or has not ended within the limit; those of the file system when
 *            /etc/passwd cannot be read.
 * Source:    getent(1), passwd(5).
 */
export async function findServiceAccount(limitMs = LOOK_UP_LIMIT_MS): Promise<ServiceAccount | null> {
  const lines = readFileSync("/etc/passwd", "utf8");
  const sources = nameSources();
  const isDecided =
    hasFilesAlone(sources) || (asksFilesFirst(sources, "passwd") && lineIn(lines) !== undefined);
  const getent = isDecided ? null : firstProgram(GETENT);
  return serviceAccountIn(getent === null ? lines : await linesOf(getent, limitMs));
}

/** What `getent` says of the service account; it is killed at the limit. */
export async function linesOf(getent: string, limitMs: number): Promise<string> {
  const { startProgram } = await import("../start-program.ts");
  const running = await startProgram(getent, ["passwd", SERVICE_ACCOUNT], {});
  return await unlessLate(
    { limitMs },
    () => read(running),
    () => {
      running.kill();
      throw unknownAccount(`getent did not end within ${limitMs / 1000} s`, SERVICE_AWAY);
    },
  );
}

/**
 * The service account in the lines of /etc/passwd; null when it is missing or is root.
 *
 * Errors: ACCOUNT_UNAVAILABLE when its line is one that the host does not take, or has a number that no account can
 *         have, or root's group.
 */
export function serviceAccountIn(lines: string): ServiceAccount | null {
  if (!isNamedIn(lines)) return null;
  const line = lineIn(lines);
  // An account that the host does not know: without this root would stay root, as on a host without one.
  if (line === undefined) throw unknownAccount("its line in the host's list lacks the numbers of an account");
  const { name, number: uid, gid, home } = line;
  if (uid === ROOT) return null;
  refuseNumbers(uid, gid);
  return { name, uid, gid, home: home || "/" };
}

/** A number that is too large changes nothing: the child would stay root and start itself as the account again. */
function refuseNumbers(uid: number, gid: number): void {
  const large = [uid, gid].find((number) => number > MAX_NUMBER);
  if (large !== undefined)
    throw unknownAccount(`its line in the host's list has ${large}, more than a number can be`);
  if (gid === ROOT)
    throw unknownAccount(
      "its group is root's own, number 0",
      `Give it a group of its own (groupadd --system ${SERVICE_ACCOUNT}; usermod -g ${SERVICE_ACCOUNT} ${SERVICE_ACCOUNT}), and see`,
    );
}

function lineIn(lines: string): AccountLine | undefined {
  return accountList(lines).find(({ name }) => name === SERVICE_ACCOUNT);
}

function isNamedIn(lines: string): boolean {
  return new RegExp(`^\\s*${SERVICE_ACCOUNT}:`, "m").test(lines);
}

/** The first of these programs that this host has; null when it has none. */
export function firstProgram(paths: readonly string[]): string | null {
  return paths.find(isExecutable) ?? null;
}

async function read({ output, ended }: RunningProgram): Promise<string> {
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

/** `hint` is the beginning of the advice; the look-up by hand follows. */
function unknownAccount(reason: string, hint = "Run"): OpsError {
  return new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot look up the account ${SERVICE_ACCOUNT}: ${reason}`,
    hint: `${hint} getent passwd ${SERVICE_ACCOUNT}`,
  });
}

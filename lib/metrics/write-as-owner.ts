import { asAccount, findAccount, SAFE_PATH } from "../platform/account.ts";
import { OpsError } from "../platform/errors.ts";
import { unwritable } from "./textfile.ts";

/** How the child that writes is started: with `command`, and the file's path after it. */
export type OwnerWriter = { command: readonly string[]; env?: Record<string, string> };

/** As long as a file of a few kilobytes may take, on a disk that hangs. */
const LIMIT_MS = 3_000;

/**
 * Replaces the metrics file as the account that its directory belongs to, for a process that is root.
 *
 * Behaviour: a child that has become that account for good makes, syncs, renames and removes everything: whatever the
 *            account has put there leads it only to what the account may do itself. It gets the text on its standard
 *            input and none of this process's variables, which hold secrets.
 * Errors:    METRICS_FILE_UNWRITABLE; the old file is as it was.
 */
export async function writeAsOwner(
  uid: number,
  path: string,
  text: string,
  { command, env = {} }: OwnerWriter,
): Promise<void> {
  const { spawnSync } = await import("node:child_process");
  const [program, ...args] = asAccount(findAccount(uid), [...command, path]);
  const child = spawnSync(program as string, args, {
    input: text,
    env: { PATH: SAFE_PATH, ...env },
    cwd: "/",
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    encoding: "utf8",
  });
  if (child.status === 0) return;
  throw refusalIn(child.stdout ?? "") ?? unwritable(path, cannotStart(uid, child));
}

/** What the child says of its own failure, which it prints as one line of JSON. */
function refusalIn(output: string): OpsError | null {
  try {
    const { code, message, hint } = JSON.parse(output) as Record<string, string>;
    return new OpsError({ code: `${code}`, message: `${message}`, hint });
  } catch {
    return null;
  }
}

function cannotStart(
  uid: number,
  { error, status, signal }: { error?: Error; status: number | null; signal: string | null },
): OpsError {
  const how = (error as NodeJS.ErrnoException | undefined)?.code ?? signal ?? `status ${status}`;
  return new OpsError({
    code: "METRICS_FILE_UNWRITABLE",
    message: `the child that writes as uid ${uid} ended with ${how}`,
    hint: `Give the directory to root: chown root <directory>; or see that setpriv (util-linux) is installed and that uid ${uid} may start opsctl`,
  });
}

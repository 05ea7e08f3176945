import type { ChildProcess } from "node:child_process";
import { type Account, asAccount, findAccount, SAFE_PATH } from "../platform/account/account.ts";
import { keepDescriptors } from "../platform/account/keep-descriptors.ts";
import { obstacleTo } from "../platform/account/obstacle.ts";
import { OpsError } from "../platform/errors.ts";
import { unlessLate } from "../platform/time-limit.ts";
import { childFailure } from "./child-failure.ts";
import { unwritable } from "./write-metrics-file.ts";

/** How the child that writes is started: with `command`, and the file's path after it. */
export type OwnerWriter = { command: readonly string[]; env: Record<string, string> };

/** How long writing a few kilobytes may take, on a disk that hangs or a host so busy that the child begins late. */
const LIMIT_MS = 20_000;
/** Far more than the one line of an error. */
const MAX_OUTPUT = 65_536;
/** How the child ends when setpriv could not change the account, or not start the program. */
const SETPRIV_FAILED = "status 127";

/**
 * Replaces the metrics file as the account that its directory belongs to, for a process that is root.
 *
 * Behaviour: a child that has become that account for good makes, syncs, renames and removes all files: links of the
 *            account lead it only to what the account itself may change. It gets the text on its standard input and
 *            none of this process's variables, which hold secrets. Of what it prints only a code counts: every process
 *            of that account could take its output over. Killing it at the limit needs CAP_KILL.
 * Errors:    METRICS_FILE_UNWRITABLE; the old file is unchanged.
 */
export async function writeAsOwner(
  uid: number,
  path: string,
  text: string,
  { command, env }: OwnerWriter,
): Promise<void> {
  const { spawn } = await import("node:child_process");
  keepDescriptors();
  const owner = findAccount(uid);
  const [program = "", ...args] = asAccount(owner, [...command, path]);
  // Not spawnSync: Deno's adds the variables of this process to those it is given.
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: SAFE_PATH, ...env },
    cwd: "/",
  });
  const { how, output } = await endOf(child, text);
  if (how === null) return;
  const code = childFailure(output);
  throw unwritable(path, code === null ? cannotWrite(owner, how) : { code });
}

/** How the child ended, null when it ended well, and what it printed. */
async function endOf(child: ChildProcess, text: string): Promise<{ how: string | null; output: string }> {
  let output = "";
  // Any process of that account may take over the child's output and write without end, even after the child's end.
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    output += piece;
    if (output.length > MAX_OUTPUT) child.stdout?.destroy();
  });
  // When the child ends before it has read everything, its status says why.
  child.stdin?.on("error", () => {}).end(text);
  const ended = new Promise<string | null>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "an unknown error"));
    child.once("close", (status, signal) => resolve(status === 0 ? null : (signal ?? `status ${status}`)));
  });
  // Not waited for once it is killed: a disk that hangs keeps even a killed process from ending.
  const how = await unlessLate(
    { limitMs: LIMIT_MS },
    () => ended,
    () => {
      child.kill("SIGKILL");
      return `no end within ${LIMIT_MS / 1000} s`;
    },
  );
  child.stdout?.destroy();
  return { how, output };
}

function cannotWrite({ name, uid, gid }: Account, how: string): OpsError {
  const obstacle = how === SETPRIV_FAILED ? obstacleTo({ name: name ?? `${uid}`, uid, gid }) : null;
  if (obstacle !== null)
    return new OpsError({
      code: "METRICS_FILE_UNWRITABLE",
      message: `the child that writes as uid ${uid} could not become it: ${obstacle.why}`,
      hint: "Set TEXTFILE_DIR to a directory of root's there; or let root change its user, with CAP_SETUID and CAP_SETGID",
    });
  return new OpsError({
    code: "METRICS_FILE_UNWRITABLE",
    message: `the child that writes as uid ${uid} ended with ${how}`,
    hint: `See that setpriv (util-linux) is installed and that uid ${uid} may start opsctl; or set TEXTFILE_DIR to a directory of root's`,
  });
}

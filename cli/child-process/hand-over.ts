import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import process from "node:process";
import {
  findServiceAccount,
  firstProgram,
  type ServiceAccount,
} from "../../lib/platform/account/service-account.ts";
import { EXIT } from "../framework/exit-status.ts";
import { isOutputClosed, writeErr } from "../framework/output.ts";
import { handedStreams } from "./handed-streams.ts";
import { cannotBecome, SETPRIV_FAILED, type Start, startAs } from "./run-as.ts";
import { selfCommand } from "./self-command.ts";

/** What ends a command from outside, or lets it go on; each reaches the one that does the work. */
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGCONT"] as const;
/** How long a child has after the same signal came a second time; and then how long its end may take to be told. */
const KILL_AFTER_MS = 1_000;
const TEST = ["/usr/bin/test", "/bin/test"];

/**
 * Runs this very command line once more as the service account, and returns its exit status; null on a host without
 * that account, where the command stays what it is.
 *
 * Behaviour: for a process that is root, before it has opened anything. The child has this process's standard streams,
 *            of a terminal only what writes, and a session of its own: other processes of that account can neither
 *            read from root's terminal nor type into it. Signals are passed on, and one that comes twice ends a child that
 *            does not end by itself; ended by a signal, this process ends so, too. It does not wait for a killed child
 *            whose end another process of the account keeps back (ptrace).
 * Errors:    ACCOUNT_UNAVAILABLE; nothing has been done then.
 */
export async function handOver(words: readonly string[]): Promise<number | null> {
  const account = await findServiceAccount();
  if (account === null) return null;
  refuseSockets(account);
  const command = selfCommand();
  refuseClosedSources(account, command);
  // Who decides, where a record wants a name, is still the one who started the command.
  const env = { ...process.env, OPSCTL_STARTED_BY: "root" };
  const start = startAs(account, [...command, ...words], { env, endSignal: "TERM" });
  const { status, signal } = await runThrough(account, start);
  if (signal !== null) return await endBy(signal);
  if (status === null || SETPRIV_FAILED.includes(status))
    throw cannotBecome(account, `setpriv ended with ${status}`, "See what it says above");
  return withOutput(status);
}

type End = { status: number | null; signal: NodeJS.Signals | null };

async function runThrough(account: ServiceAccount, { program, args, env }: Start): Promise<End> {
  // Not in root's directory: from there the account reads what only a closed directory above keeps from it.
  const child = spawn(program, args, { stdio: await handedStreams(), env, cwd: "/", detached: true });
  const killed = Promise.withResolvers<End>();
  const stop = forwardSignals(child, () => killed.resolve({ status: null, signal: "SIGKILL" }));
  try {
    const ended = new Promise<End>((resolve, reject) => {
      child.once("error", ({ code }: NodeJS.ErrnoException) =>
        reject(cannotBecome(account, `${program} cannot be started: ${code}`, "Install util-linux")),
      );
      child.once("close", (status, signal) => resolve({ status, signal }));
    });
    return await Promise.race([ended, killed.promise]);
  } finally {
    stop();
  }
}

function forwardSignals({ pid }: ChildProcess, onKilled: () => void): () => void {
  const seen = new Set<NodeJS.Signals>();
  let killer: ReturnType<typeof setTimeout> | undefined;
  const kill = () => {
    passOn(pid, "SIGKILL");
    killer = setTimeout(onKilled, KILL_AFTER_MS);
  };
  const forward = (signal: NodeJS.Signals) => {
    passOn(pid, signal);
    if (signal === "SIGCONT") return;
    // Another process of the account may have stopped the child, and root would wait for it for ever.
    passOn(pid, "SIGCONT");
    if (seen.has(signal)) killer ??= setTimeout(kill, KILL_AFTER_MS);
    seen.add(signal);
  };
  // The terminal stops this process alone, whose child has another session.
  const stop = () => {
    passOn(pid, "SIGSTOP");
    passOn(process.pid, "SIGSTOP");
  };
  const handlers = [...FORWARDED.map((signal) => [signal, forward] as const), ["SIGTSTP", stop] as const];
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    clearTimeout(killer);
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}

/** By its number: of a child whose own `kill` was called Deno reports that signal as its end, whatever it did. */
function passOn(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** Ends this process as its child ended; the wait is for a signal that is on its way. */
async function endBy(signal: NodeJS.Signals): Promise<number> {
  process.kill(process.pid, signal);
  return await new Promise((resolve) => setTimeout(() => resolve(EXIT.failed), 1_000));
}

/** The child found the null device where this process has no standard output, and could not know. */
function withOutput(status: number): number {
  if (!isOutputClosed()) return status;
  writeErr("The result was not written: standard output is closed\n");
  return Math.max(status, EXIT.failed);
}

/** systemd hands sockets to one process by its number, and the child has another. */
function refuseSockets(account: ServiceAccount): void {
  if (process.env.LISTEN_PID !== String(process.pid)) return;
  throw cannotBecome(
    account,
    "systemd handed its sockets to this process",
    `Set User=${account.name} in the unit`,
  );
}

/** The sources in a clone of root's own are closed to the account; the runtime would say it in a way of its own. */
function refuseClosedSources(account: ServiceAccount, command: readonly string[]): void {
  const main = command.at(-1) as string;
  const test = firstProgram(TEST);
  if (command.length === 1 || test === null) return;
  const { program, args, env } = startAs(account, [test, "-r", main], { env: {}, endSignal: "KILL" });
  if (spawnSync(program, args, { env, stdio: "ignore" }).status !== EXIT.failed) return;
  throw cannotBecome(account, `it may not read ${main}`, "Install opsctl with make install");
}

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import process from "node:process";
import { firstProgram, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { STARTED_BY, starterMark, starterOf } from "../../lib/platform/account/started-by.ts";
import type { RootInput } from "../framework/command.ts";
import { EXIT } from "../framework/exit-status.ts";
import { isOutputClosed, writeErr } from "../framework/streams/output.ts";
import { HANDED_INPUT } from "./handed-input.ts";
import { handedStreams } from "./handed-streams.ts";
import { cannotBecome, SETPRIV_FAILED, type Start, startAs } from "./run-as.ts";
import { selfCommand } from "./self-command.ts";
import { trialLimitMs } from "./trial-limit.ts";
import { tryAccount } from "./try-account.ts";

const ROOT = "root";
/** The signals that are passed on to the child. */
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGCONT"] as const;
/** How long a child may take to end after the same signal came twice; and then how long its end may take to be seen. */
const KILL_AFTER_MS = 1_000;
const TEST = ["/usr/bin/test", "/bin/test"];
/** The exit status of test(1) for "no". */
const TEST_SAYS_NO = 1;

/**
 * Runs the same command line again as the service account, in a child process, and returns the child's exit status.
 *
 * Shape:     `input` is what root read for the command: it becomes the child's standard input, which no list of
 *            processes shows. A child that gets a secret so is closed to other processes of the account.
 * Behaviour: called by a process that is root, before it opens anything. The child gets this process's standard
 *            streams, a terminal only for writing, and a session of its own: other processes of that account can
 *            neither read from root's terminal nor type into it. Before that the account is become once for nothing,
 *            which shows whether that is possible. Signals are passed on. A signal that comes twice, but SIGHUP, kills
 *            a child that does not end by itself. A killed child is not waited for when another process of the account
 *            holds back its end (ptrace). A child that ends by a signal makes this process end by it too.
 * Units:     milliseconds; `lookUpMs` is what looking up the account took, `limitMs` what that may take at most.
 * Errors:    ACCOUNT_UNAVAILABLE, before the command has done anything.
 */
export async function handOver(
  account: ServiceAccount,
  words: readonly string[],
  { input, limitMs, lookUpMs }: { input: RootInput | null; limitMs: number | undefined; lookUpMs: number },
): Promise<number> {
  refuseSockets(account);
  refuseSecondTime(account);
  const isClosed = input?.isSecret === true;
  await tryAccount(account, { limitMs: trialLimitMs(lookUpMs, limitMs), isClosed });
  const command = selfCommand();
  refuseClosedSources(account, command);
  // The record of a reconciliation names the person who started the command, not the account.
  const mark = starterMark(ROOT);
  const env = {
    ...process.env,
    [STARTED_BY]: mark,
    [HANDED_INPUT]: input === null ? undefined : mark,
  };
  const start = startAs(account, [...command, ...words], {
    ...{ env, endSignal: "TERM" },
    isClosed,
  });
  const { status, signal } = await runThrough(account, start, input?.text ?? null);
  if (signal !== null) return await endBy(signal);
  if (status === null || SETPRIV_FAILED.includes(status))
    throw cannotBecome(account, `setpriv ended with ${status}`, "See what it says above");
  return withOutput(status);
}

type End = { status: number | null; signal: NodeJS.Signals | null };

async function runThrough(
  account: ServiceAccount,
  { program, args, env }: Start,
  input: string | null,
): Promise<End> {
  const [ownInput, ...outputs] = await handedStreams();
  // Not in root's working directory: the account could read there what only a closed parent directory protects.
  const child = spawn(program, args, {
    stdio: [input === null ? ownInput : "pipe", ...outputs],
    ...{ env, cwd: "/", detached: true },
  });
  // A child that ends before it has read says so by its status.
  child.stdin?.on("error", () => {}).end(input);
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
    // Another process of the account may have stopped the child; root would wait for ever.
    passOn(pid, "SIGCONT");
    // A service takes it as the request to read its settings again, as often as it comes.
    if (signal === "SIGHUP") return;
    if (seen.has(signal)) killer ??= setTimeout(kill, KILL_AFTER_MS);
    seen.add(signal);
  };
  // Ctrl-Z at the terminal stops this process alone: the child has another session.
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

/** Uses the process id: after `child.kill(signal)` Deno reports that signal as the child's end, whatever ended it. */
function passOn(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

/** Ends this process by the signal that ended the child; waits because the signal arrives a moment later. */
async function endBy(signal: NodeJS.Signals): Promise<number> {
  process.kill(process.pid, signal);
  return await new Promise((resolve) => setTimeout(() => resolve(EXIT.failed), 1_000));
}

/** Makes the status a failure when this process has no standard output: the child wrote to the null device instead. */
function withOutput(status: number): number {
  if (!isOutputClosed()) return status;
  writeErr("The result was not written: standard output is closed\n");
  return Math.max(status, EXIT.failed);
}

/** Refuses sockets from systemd: they are for this process id, and the child has another. */
function refuseSockets(account: ServiceAccount): void {
  if (process.env.LISTEN_PID !== String(process.pid)) return;
  throw cannotBecome(
    account,
    "systemd handed its sockets to this process",
    `Set User=${account.name} in the unit`,
  );
}

/** Refuses to be started by itself: a child that is root still would start the next one, without end. */
function refuseSecondTime(account: ServiceAccount): void {
  if (starterOf(process.env) === null) return;
  throw cannotBecome(
    account,
    "this process was started as that account, and is root still",
    `See the numbers of getent passwd ${account.name}`,
  );
}

/** Refuses sources that the account may not read, as in a clone of root's, before the runtime fails on them. */
function refuseClosedSources(account: ServiceAccount, command: readonly string[]): void {
  const main = command.at(-1) as string;
  const test = firstProgram(TEST);
  if (command.length === 1 || test === null) return;
  const { program, args, env } = startAs(account, [test, "-r", main], { env: {}, endSignal: "KILL" });
  if (spawnSync(program, args, { env, stdio: "ignore" }).status !== TEST_SAYS_NO) return;
  throw cannotBecome(account, `it may not read ${main}`, "Install opsctl with make install");
}

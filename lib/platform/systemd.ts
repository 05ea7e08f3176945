import process from "node:process";
import { runProgram } from "./run-program.ts";

/** The longest time between two pings of the watchdog; it gets three in its limit at least. */
const PING_MS = 60_000;
const CHILD_LIMIT_MS = 5_000;

/**
 * Tells systemd that this service is ready, then pings its watchdog, as far as the unit asks for them.
 *
 * Shape:     returns how to end the pings.
 * Behaviour: starts `systemd-notify` for each, because neither runtime can write to the manager's socket. The pings
 *            come from the loop that does all of the service's work, so a service that hangs is restarted. `onFailure`
 *            gets the code of a child that failed.
 * Source:    sd_notify(3) and sd_watchdog_enabled(3).
 */
export function notifySystemd(
  env: Readonly<Record<string, string | undefined>>,
  { pid, onFailure }: { pid: number; onFailure: (code: string) => void },
): () => void {
  if (!env.NOTIFY_SOCKET) return () => {};
  const send = async (state: string): Promise<void> => {
    const signal = AbortSignal.timeout(CHILD_LIMIT_MS);
    const { end } = await runProgram("systemd-notify", [state], { env: process.env, signal });
    if (end.status === "unstarted") onFailure(end.code);
    else if (end.status !== "ended" || end.exitCode === null) onFailure("failed");
    else if (end.exitCode !== 0) onFailure(String(end.exitCode));
  };
  void send("READY=1");
  const limitMs = watchdogMs(env, pid);
  if (limitMs === null) return () => {};
  const timer = setInterval(() => void send("WATCHDOG=1"), Math.min(PING_MS, limitMs / 3));
  return () => clearInterval(timer);
}

/** After how long a silence systemd restarts this process, or null when it does not watch it. */
function watchdogMs(env: Readonly<Record<string, string | undefined>>, pid: number): number | null {
  const { WATCHDOG_USEC: limit = "", WATCHDOG_PID: watched } = env;
  if (!/^[1-9]\d{0,15}$/.test(limit) || (watched !== undefined && watched !== String(pid))) return null;
  return Number(limit) / 1_000;
}

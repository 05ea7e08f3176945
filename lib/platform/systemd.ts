import process from "node:process";
import { runProgram } from "./run-program.ts";

/** The longest time between two pings of the watchdog; it gets three in its limit at least. */
const PING_MS = 60_000;
const CHILD_LIMIT_MS = 5_000;

/**
 * Tells systemd that this service is ready, then pings its watchdog, as far as the unit asks for them; returns how to
 * end the pings.
 *
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
  const { WATCHDOG_USEC: limitUs, WATCHDOG_PID: watched = String(pid) } = env;
  if (limitUs === undefined || watched !== String(pid)) return () => {};
  const timer = setInterval(() => void send("WATCHDOG=1"), Math.min(PING_MS, Number(limitUs) / 3_000));
  return () => clearInterval(timer);
}

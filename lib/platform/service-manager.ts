import { execFile } from "node:child_process";
import { clearInterval, setInterval } from "node:timers";
import { promisify } from "node:util";
import { type Notify, openNotifySocket } from "./notify-socket.ts";

/** The manager of services, as far as a service tells it something. */
export type ServiceManager = {
  /** The service is ready. */
  ready(): Promise<void>;
  /** Tells it nothing more. */
  close(): void;
};

const READY = new TextEncoder().encode("READY=1");
const ALIVE = new TextEncoder().encode("WATCHDOG=1");
/** How often systemd is told that the service lives; its limit is six times as long. */
const ALIVE_EVERY_MS = 20_000;
const CHILD_LIMIT_MS = 5_000;

/**
 * Tells systemd that the service is ready, and then that it lives, as the unit asks for.
 *
 * Behaviour: that it lives is told by the loop that does all of its work, with a socket opened here: a service that
 *            hangs is restarted, one that is busy or short of descriptors or memory is not. Where the socket cannot be
 *            had, `systemd-notify` is called each time. `onFailure` gets the code of what could not be told.
 * Source:    sd_notify(3) and sd_watchdog_enabled(3).
 */
export function openServiceManager(
  env: Readonly<Record<string, string | undefined>>,
  {
    pid,
    onFailure,
    everyMs = ALIVE_EVERY_MS,
  }: { pid: number; onFailure: (code: string) => void; everyMs?: number },
): ServiceManager {
  const { NOTIFY_SOCKET: name = "" } = env;
  if (name === "") return { async ready() {}, close() {} };
  const notify = openNotifySocket(name);
  const tell = (words: Uint8Array) => tellManager(notify, words, onFailure);
  const limitMs = watchdogMs(env, pid);
  const timer = limitMs === null ? null : setInterval(() => void tell(ALIVE), Math.min(everyMs, limitMs / 3));
  timer?.unref();
  return {
    ready: () => tell(READY),
    close() {
      if (timer !== null) clearInterval(timer);
    },
  };
}

/** After how long a silence systemd restarts this process, or null when it does not watch it. */
function watchdogMs(env: Readonly<Record<string, string | undefined>>, pid: number): number | null {
  const { WATCHDOG_USEC: limit = "", WATCHDOG_PID: watched } = env;
  if (!/^[1-9]\d{0,15}$/.test(limit) || (watched !== undefined && watched !== String(pid))) return null;
  return Number(limit) / 1_000;
}

async function tellManager(
  notify: Notify | null,
  words: Uint8Array,
  onFailure: (code: string) => void,
): Promise<void> {
  if (notify?.(words)) return;
  try {
    await promisify(execFile)("systemd-notify", [new TextDecoder().decode(words)], {
      timeout: CHILD_LIMIT_MS,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    onFailure(String(code ?? "failed"));
  }
}

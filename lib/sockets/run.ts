import type { SocketCounts } from "../host/count-sockets.ts";
import { OpsError } from "../platform/errors.ts";
import { wrapText } from "../text/wrap.ts";
import {
  type AlertOutcome,
  alertOnce,
  endEpisode,
  type Messenger,
  type MonitorProblem,
  type OpenDedup,
} from "./alert.ts";
import type { LoadAverage } from "./host-values.ts";
import type { SocketReadings } from "./readings.ts";

/** The dependencies of a run of the socket monitor; `host` is the host's name in the message. */
export type SocketMonitorDependencies = {
  countSockets: () => Promise<SocketCounts>;
  readLoadAverage: () => Promise<LoadAverage | null>;
  readProxyMemory: () => Promise<number | null>;
  openDedup: OpenDedup;
  messenger: Messenger;
  appendReadings: (readings: SocketReadings) => Promise<void>;
  host: string;
  nowMs: () => number;
};

/** What a run read and did; with any problem the run has failed. */
export type SocketMonitorReport = {
  readings: SocketReadings;
  alert: AlertOutcome;
  problems: MonitorProblem[];
};

/**
 * One run: reads, decides by the total alone, sends the alert or ends the episode, writes the log line.
 *
 * Behaviour: a listing that fails is not zero sockets: no alert, and the episode does not end. The line is also
 *            written when the message could not be sent.
 * Errors:    none thrown; they are the report's problems.
 */
export async function monitorSockets(
  dependencies: SocketMonitorDependencies,
  threshold: number,
): Promise<SocketMonitorReport> {
  const time = new Date(dependencies.nowMs()).toISOString();
  const [counted, load, proxyMemoryBytes] = await Promise.all([
    dependencies.countSockets().catch((error: Error) => error),
    dependencies.readLoadAverage(),
    dependencies.readProxyMemory(),
  ]);
  const { alert, problems } = await act(dependencies, counted, threshold);
  const unread = { total: null, closeWait: null, load1: null, load5: null, load15: null };
  const counts = counted instanceof Error ? null : counted;
  const readings = { time, threshold, ...unread, ...counts, ...load, proxyMemoryBytes };
  try {
    await dependencies.appendReadings(readings);
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    problems.push({ code: error.code, message: error.message });
  }
  return { readings, alert, problems };
}

async function act(
  { host, openDedup, messenger }: SocketMonitorDependencies,
  counted: SocketCounts | Error,
  threshold: number,
): Promise<Pick<SocketMonitorReport, "alert" | "problems">> {
  if (counted instanceof Error)
    return { alert: "not_needed", problems: [{ code: "sockets_unreadable", message: counted.message }] };
  const { total, closeWait } = counted;
  // Source: monitoring document, Socket monitor: more than the threshold, so reaching it exactly is not enough.
  if (total <= threshold) return { alert: "not_needed", problems: await endEpisode(openDedup) };
  // Plain digits, so that the numbers can be searched for and copied.
  const text = [
    "🔴 *Sockets TCP acima do limite*",
    `Servidor: ${host}`,
    `Total: ${total} (limite: ${threshold})`,
    `Em CLOSE_WAIT: ${closeWait}`,
  ].join("\n");
  return await alertOnce(openDedup, messenger, text);
}

const ALERTS: Record<AlertOutcome, string> = {
  not_needed: "no alert",
  sent: "alert sent",
  suppressed: "alert already sent less than 30 minutes ago",
  failed: "alert not sent",
};

/** One line for people, wrapped at `width` columns of a terminal. */
export function renderMonitored({ readings, alert }: SocketMonitorReport, width: number | null): string {
  const { total, threshold, closeWait } = readings;
  if (total === null) return "The sockets could not be counted\n";
  const line = `${total} TCP sockets (threshold ${threshold}), ${closeWait} in CLOSE_WAIT: ${ALERTS[alert]}`;
  return `${wrapText(line, width ?? line.length, "  ").join("\n")}\n`;
}

import type { SocketCounts } from "../host/count-sockets.ts";
import { OpsError } from "../platform/errors.ts";
import {
  type AlertOutcome,
  alertOnce,
  endEpisode,
  type MonitorProblem,
  type OpenDedup,
} from "./alert-once.ts";
import type { LoadAverage } from "./load-average.ts";
import type { SocketReadings } from "./log-line.ts";
import { renderSocketAlert } from "./message-text.ts";
import { type Messenger, sendText } from "./send.ts";

/** The dependencies of a run of the socket monitor. */
export type SocketMonitorDependencies = {
  countSockets: () => Promise<SocketCounts>;
  readLoadAverage: () => Promise<LoadAverage | null>;
  readProxyMemory: () => Promise<number | null>;
  openDedup: OpenDedup;
  messenger: Messenger;
  appendReadings: (readings: SocketReadings) => Promise<void>;
  /** Name of the host in the message. */
  host: string;
  nowMs: () => number;
};

/** What a run saw and did; with any problem the run has failed. */
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
    dependencies.countSockets().catch(() => null),
    dependencies.readLoadAverage(),
    dependencies.readProxyMemory(),
  ]);
  const { alert, problems } = counted === null ? unread() : await act(dependencies, counted, threshold);
  const readings: SocketReadings = {
    time,
    threshold,
    total: counted?.total ?? null,
    closeWait: counted?.closeWait ?? null,
    load1: load?.load1 ?? null,
    load5: load?.load5 ?? null,
    load15: load?.load15 ?? null,
    proxyMemoryBytes,
  };
  return { readings, alert, problems: [...problems, ...(await append(dependencies, readings))] };
}

type Acted = Pick<SocketMonitorReport, "alert" | "problems">;

async function act(
  dependencies: SocketMonitorDependencies,
  counts: SocketCounts,
  threshold: number,
): Promise<Acted> {
  // Source: monitoring document, Socket monitor: more than the threshold, so reaching it exactly is not enough.
  if (counts.total <= threshold)
    return { alert: "not_needed", problems: await endEpisode(dependencies.openDedup) };
  const text = renderSocketAlert({ host: dependencies.host, ...counts, threshold });
  return await alertOnce(dependencies.openDedup, () => sendText(dependencies.messenger, text));
}

function unread(): Acted {
  const message = "Cannot list the sockets: ss is missing, fails, or prints no listing";
  return { alert: "not_needed", problems: [{ code: "sockets_unreadable", message }] };
}

async function append(
  dependencies: SocketMonitorDependencies,
  readings: SocketReadings,
): Promise<MonitorProblem[]> {
  try {
    await dependencies.appendReadings(readings);
    return [];
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    return [{ code: error.code, message: error.message }];
  }
}

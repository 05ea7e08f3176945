import type { SocketCounts } from "../host/count-sockets.ts";
import { OpsError } from "../platform/errors.ts";
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

/** What a run read and did; with any problem the run has failed. */
export type SocketMonitorReport = {
  readings: SocketReadings;
  alert: AlertOutcome;
  problems: MonitorProblem[];
};

const UNREAD: Acted = {
  alert: "not_needed",
  problems: [
    {
      code: "sockets_unreadable",
      message: "Cannot list the sockets: ss is missing, fails, or prints no listing",
    },
  ],
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
  const { alert, problems } = counted === null ? UNREAD : await act(dependencies, counted, threshold);
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
  { host, openDedup, messenger }: SocketMonitorDependencies,
  { total, closeWait }: SocketCounts,
  threshold: number,
): Promise<Acted> {
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

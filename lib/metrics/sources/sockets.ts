import { METRIC } from "../../host/metric-names.ts";
import { countSockets, type SocketCounts } from "../../host/socket-table.ts";
import type { Source } from "../source.ts";

/** A count of the sockets that has begun; `stop` ends it, done or not. */
export type Counting = { counts: Promise<SocketCounts>; startedMs: number; stop(): void };

/**
 * Begins to count, so that the kernel lists while everything else of a run is still being loaded: on a host with many
 * sockets nothing takes longer.
 *
 * Shape:  `stop` must be called in the end, whatever became of the run.
 * Units:  `startedMs` is of the clock `performance.now()`.
 */
export function startCounting(): Counting {
  const stopped = new AbortController();
  const startedMs = performance.now();
  const counts = countSockets({ signal: stopped.signal });
  // A run that ends before it looks at the result has its own reason.
  counts.catch(() => {});
  return { counts, startedMs, stop: () => stopped.abort() };
}

/** All TCP sockets of the host, and those in CLOSE_WAIT. */
export function socketsSource({ counts, stop }: Counting): Source {
  return async (signal) => {
    signal.addEventListener("abort", stop, { once: true });
    try {
      const { total, closeWait } = await counts;
      return {
        samples: { [METRIC.tcpCloseWait]: [{ value: closeWait }], [METRIC.tcpSockets]: [{ value: total }] },
        problem: null,
      };
    } catch (error) {
      return { samples: {}, problem: { code: "sockets_unreadable", message: (error as Error).message } };
    }
  };
}

import { setImmediate as nextTurn } from "node:timers/promises";
import { countSockets } from "../../host/count-sockets.ts";
import { METRIC } from "../../host/metric-names.ts";
import type { Source } from "../source.ts";

/** All TCP sockets of the host, and those in CLOSE_WAIT. */
export function socketsSource(): Source {
  return async (signal) => {
    // Starting a program blocks this process: calls to peers begin first.
    await nextTurn();
    try {
      const { total, closeWait } = await countSockets({ signal });
      return {
        samples: { [METRIC.tcpCloseWait]: [{ value: closeWait }], [METRIC.tcpSockets]: [{ value: total }] },
        problem: null,
      };
    } catch (error) {
      return { samples: {}, problem: { code: "sockets_unreadable", message: (error as Error).message } };
    }
  };
}

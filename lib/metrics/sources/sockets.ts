import { countSockets } from "../../host/count-sockets.ts";
import { METRIC } from "../../host/metric-names.ts";
import { type MetricSource, unread } from "../source.ts";

/** All TCP sockets of the host, and those in CLOSE_WAIT. */
export const sockets: MetricSource = {
  name: "sockets",
  help: {
    [METRIC.tcpCloseWait]: "TCP connections in CLOSE_WAIT, IPv4 and IPv6.",
    [METRIC.tcpSockets]: "TCP sockets that ss -ant lists, IPv4 and IPv6, listeners and TIME_WAIT included.",
  },
  limitMs: 8_000,
  settings: [],
  async read(_settings, { signal }) {
    try {
      const { total, closeWait } = await countSockets({ signal });
      const samples = {
        [METRIC.tcpCloseWait]: [{ value: closeWait }],
        [METRIC.tcpSockets]: [{ value: total }],
      };
      return { samples, problem: null };
    } catch (error) {
      return unread("sockets_unreadable", (error as Error).message);
    }
  },
};

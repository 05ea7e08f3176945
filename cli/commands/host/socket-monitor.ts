import { aPositiveInteger, option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";

const THRESHOLD = "Alert when there are more sockets than this (default: SOCKET_THRESHOLD, else 10000)";

/**
 * `opsctl socket-monitor` counts the TCP sockets once, and alerts by WhatsApp when there are too many.
 *
 * Behaviour: appends a line to `socket_monitor.log` in OPSCTL_LOG_DIR; its dedup is in OPSCTL_STATE_DIR.
 */
export const socketMonitor = defineCommand({
  isUnattended: true,
  notes: "Alerts on the total alone, at most once in 30 minutes while it stays above the threshold.",
  args: { threshold: option("n", THRESHOLD, { check: aPositiveInteger }) },
  example: "opsctl socket-monitor --json",

  async run(args, context) {
    const { loadSocketMonitorConfig } = await import("../../../lib/sockets/config.ts");
    const config = await loadSocketMonitorConfig(context.env);
    const { openSocketMonitorDependencies } = await import("../../wiring/host/socket-monitor.ts");
    const { monitorSockets, renderMonitored } = await import("../../../lib/sockets/run.ts");
    const threshold = Number(args.threshold ?? config.SOCKET_THRESHOLD);
    const report = await monitorSockets(openSocketMonitorDependencies(config, context), threshold);
    const { alert, problems, readings } = report;
    for (const { code, message } of problems) context.log.error(message, { code });
    return {
      exitCode: problems.length === 0 ? EXIT.ok : EXIT.failed,
      fields: { alert, ...readings, problems },
      text: ({ width }) => renderMonitored(report, width),
    };
  },
});

/**
 * `opsctl socket-monitor`: counts the TCP sockets once, and alerts when there are too many.
 *
 * Writes: one line in `socket_monitor.log` in OPSCTL_LOG_DIR; the dedup in OPSCTL_STATE_DIR.
 * Calls:  the messaging gateway, when the total is above the threshold.
 * JSON:   `threshold`, `alert`: not_needed, sent, suppressed or failed, `time`, `total`, `closeWait`, `load1`, `load5`,
 *         `load15`, `proxyMemoryBytes` (null: not known), `problems` (each `code`, `message`).
 */
import { aPositiveInteger } from "../../args/checks.ts";
import { option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";

/** The command; see the head of this file. */
export const socketMonitor = defineCommand({
  account: "service",
  isUnattended: true,
  notes: "Alerts on the total alone, at most once in 30 minutes while it stays above the threshold.",
  args: {
    threshold: option(
      "n",
      "Alert when there are more sockets than this (default: SOCKET_THRESHOLD, else 10000)",
      {
        check: aPositiveInteger,
      },
    ),
  },
  example: "opsctl socket-monitor --json",

  async run(args, context) {
    const { loadSocketMonitorConfig } = await import("../../../lib/sockets/config.ts");
    const config = await loadSocketMonitorConfig(context.env);
    const { openSocketMonitorDependencies } = await import("../../wiring/host/socket-monitor.ts");
    const { monitorSockets } = await import("../../../lib/sockets/run.ts");
    const { renderMonitored } = await import("../../../lib/sockets/render.ts");
    const threshold = Number(args.threshold ?? config.threshold);
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

/**
 * `opsctl socket-monitor`: counts the TCP sockets once, and alerts when there are too many.
 *
 * Reads:  the socket table (`ss`, /proc/net), the load averages, `custom_metrics.prom` in TEXTFILE_DIR, the webhook's
 *         environment file.
 * Writes: one line in `socket_monitor.log` in OPSCTL_LOG_DIR; the dedup in OPSCTL_STATE_DIR.
 * Calls:  the messaging gateway, when the total is above the threshold.
 * Env:    OPSCTL_WEBHOOK_ENV_FILE, OPSCTL_STATE_DIR, STATE_DIRECTORY, OPSCTL_LOG_DIR, TEXTFILE_DIR; in that file
 *         MESSAGING_API_URL, MESSAGING_API_KEY (secret), MESSAGING_PHONE, MESSAGING_INSTANCE, OPSCTL_ALLOW_PLAIN_HTTP.
 * Exits:  0 done, 1 the sockets could not be counted, or the alert, the dedup or the log failed; 2 usage;
 *         3 configuration, and no line is written.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, `threshold`, `alert`: not_needed, sent, suppressed or failed,
 *         `time`, `total`, `closeWait`, `load1`, `load5`, `load15`, `proxyMemoryBytes` (null: not known), `problems`
 *         (each `code`, `message`).
 */
import { SOCKET_THRESHOLD } from "../../../lib/sockets/threshold.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { aPositiveInteger } from "../../framework/usage/value-checks.ts";

/** The command; see the head of this file. */
export const socketMonitor = defineCommand({
  meta: { name: "socket-monitor", description: "Alert by WhatsApp when the host has too many TCP sockets" },
  account: "service",
  isUnattended: true,
  notes: "Alerts on the total alone, at most once in 30 minutes while it stays above the threshold.",
  args: {
    threshold: {
      type: "string",
      valueHint: "n",
      default: String(SOCKET_THRESHOLD),
      description: "Alert when there are more sockets than this",
    },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  checks: { threshold: aPositiveInteger },
  example: "opsctl socket-monitor --json",

  async run(args, context) {
    const { loadSocketMonitorConfig } = await import("../../../lib/sockets/config.ts");
    const config = await loadSocketMonitorConfig(context.env);
    const { openSocketMonitorDependencies } = await import("../../wiring/host/socket-monitor.ts");
    const { monitorSockets } = await import("../../../lib/sockets/run.ts");
    const { renderMonitored } = await import("../../../lib/sockets/render.ts");
    const threshold = Number(args.threshold);
    const report = await monitorSockets(openSocketMonitorDependencies(config, context), threshold);
    const { alert, problems, readings } = report;
    for (const { code, message } of problems) context.log.error(message, { code });
    const exitCode = problems.length === 0 ? EXIT.ok : EXIT.failed;
    const fields = { threshold, alert, ...readings, problems };
    const { terminalWidth } = await import("../../framework/streams/terminal-width.ts");
    const text = renderMonitored(report, threshold, await terminalWidth(context.env));
    return outcomeOf({ command: "socket-monitor", exitCode, fields, text });
  },
});

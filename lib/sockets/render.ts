import { wrapText } from "../text/wrap.ts";
import type { AlertOutcome } from "./alert.ts";
import type { SocketMonitorReport } from "./run.ts";

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

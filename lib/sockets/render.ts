import type { AlertOutcome } from "./alert.ts";
import type { SocketMonitorReport } from "./run.ts";

const ALERTS: Record<AlertOutcome, string> = {
  not_needed: "no alert",
  sent: "alert sent",
  suppressed: "alert already sent less than 30 minutes ago",
  failed: "alert not sent",
};

/** One line for people. */
export function renderMonitored({ readings, alert }: SocketMonitorReport, threshold: number): string {
  const { total, closeWait } = readings;
  if (total === null) return "The sockets could not be counted\n";
  return `${total} TCP sockets (threshold ${threshold}), ${closeWait} in CLOSE_WAIT: ${ALERTS[alert]}\n`;
}

/**
 * The WhatsApp text of an alert.
 *
 * Shape: plain digits, so that the numbers can be searched for and copied.
 */
export function renderSocketAlert(alert: {
  host: string;
  total: number;
  closeWait: number;
  threshold: number;
}): string {
  return [
    "🔴 *Sockets TCP acima do limite*",
    `Servidor: ${alert.host}`,
    `Total: ${alert.total} (limite: ${alert.threshold})`,
    `Em CLOSE_WAIT: ${alert.closeWait}`,
  ].join("\n");
}

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

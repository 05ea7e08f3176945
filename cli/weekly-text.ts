import type { DeliveryCounts, WeeklySummary } from "../lib/weekly/summary.ts";

/** The run summary for people on a terminal: the same facts as `--json`, a line for each part. */
export function renderWeeklySummary(summary: WeeklySummary): string {
  const { window, reports, social, whatsapp, email, editorials, failures, error } = summary;
  const lines = [
    `${summary.dryRun ? "Readiness check" : "Weekly run"}: ${summary.status.replace("_", " ")}`,
    ...(window === null ? [] : [`Week:       ${window.week} (${window.start} to ${window.end})`]),
    `Reports:    ${counts(reports)}`,
    `Social:     ${counts(social)}`,
    `WhatsApp:   ${counts(whatsapp)}`,
    `E-mail:     ${counts(email)}`,
    `Editorials: ${editorials.status}${editorials.code === null ? "" : ` (${editorials.code})`}`,
    `Heartbeat:  ${summary.heartbeat}`,
    ...failures.map(({ step, code, ...ids }) => `  ${step}: ${code}${idsText(ids)}`),
    ...(summary.failuresTruncated ? ["  and more"] : []),
    ...(error === null
      ? []
      : [`${error.code}: ${error.message}`, ...(error.hint ? [`  ${error.hint}`] : [])]),
  ];
  return `${lines.join("\n")}\n`;
}

function counts(values: Record<string, number> | DeliveryCounts): string {
  const some = Object.entries(values).filter(([, count]) => count > 0);
  return some.map(([name, count]) => `${count} ${name}`).join(", ") || "none";
}

function idsText(ids: Record<string, string | undefined>): string {
  return Object.entries(ids)
    .map(([name, id]) => ` ${name}=${id}`)
    .join("");
}

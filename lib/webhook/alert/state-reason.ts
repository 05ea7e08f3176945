/**
 * Why the platform changed an alert's state without having measured that it should.
 *
 * Source: grafana/grafana pkg/services/ngalert/models/alert_rule.go, StateReason, read 2026-11-22.
 */
const STATE_REASONS = ["NoData", "MissingSeries", "Error", "Paused", "Updated", "RuleDeleted"] as const;
/** One of these reasons. */
export type StateReason = (typeof STATE_REASONS)[number];

/** The reason in the platform's annotation, which may list several: `NoData, KeepLast`; null without a known one. */
export function readStateReason(annotation: string | undefined): StateReason | null {
  const reasons = (annotation ?? "").split(",", 10).map((reason) => reason.trim());
  return STATE_REASONS.find((known) => reasons.includes(known)) ?? null;
}

/** Whether an alert has ended without a measurement: what it is about may go on. */
export function endedUnmeasured(alert: { status: string | null; reason?: StateReason | null }): boolean {
  return alert.status === "resolved" && (alert.reason ?? null) !== null;
}

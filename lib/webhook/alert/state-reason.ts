/**
 * Why the platform changed an alert's state without having measured that it should.
 *
 * Source: grafana/grafana pkg/services/ngalert/models/alert_rule.go, StateReason, read 2026-11-22.
 */
const STATE_REASONS = ["NoData", "MissingSeries", "Error", "Paused", "Updated", "RuleDeleted"] as const;
/** One of these reasons. */
export type StateReason = (typeof STATE_REASONS)[number];

/**
 * The reason in the platform's annotation, of which there may be several: `NoData, KeepLast`; null for none that is
 * known.
 */
export function readStateReason(annotation: string | undefined): StateReason | null {
  const reasons = (annotation ?? "").split(",", 10).map((reason) => reason.trim());
  return STATE_REASONS.find((known) => reasons.includes(known)) ?? null;
}

/**
 * Whether the steps of a rule have no values for this reason, and -1 in the place of each.
 *
 * Source: grafana/grafana pkg/services/ngalert/state/state.go, SetNextValues, read 2026-11-23.
 */
export function isWithoutValue(reason: StateReason | null): boolean {
  return reason === "NoData" || reason === "Error";
}

/** Whether an alert has ended without a measurement: what it is about may go on. */
export function endedUnmeasured({
  status,
  reason = null,
}: {
  status: string | null;
  reason?: StateReason | null;
}): boolean {
  return status === "resolved" && reason !== null;
}

/** One step of a rule: a query, or an expression over the step before it. */
export type RuleStep = {
  refId: string;
  queryType: string;
  relativeTimeRange: { from: number; to: number };
  datasourceUid: string;
  model: Readonly<Record<string, unknown>>;
};

/**
 * A rule as Grafana's provisioning API accepts it.
 *
 * Shape:  `for` is a Prometheus duration; Grafana adds `id`, `orgID`, `updated`, `provenance` and defaults. Without
 *         `notification_settings` the notification policies decide who receives the rule.
 * Source: grafana/grafana docs/sources/shared/alerts/alerting_provisioning.md, ProvisionedAlertRule, read 2026-11-21.
 */
export type RuleDocument = {
  uid: string;
  title: string;
  folderUID: string;
  ruleGroup: string;
  condition: string;
  for: string;
  noDataState: "OK";
  execErrState: "Error";
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  data: readonly RuleStep[];
  notification_settings?: NotificationSettings;
};

/** A rule's own receiver; the keys beside `receiver` (grouping, repetition, mute times) belong to a person. */
export type NotificationSettings = Readonly<Record<string, unknown>> & { receiver: string };

/** The data source of a step that is an expression. */
export const EXPRESSION_SOURCE = "__expr__";

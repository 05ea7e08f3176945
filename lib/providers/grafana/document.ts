/** One step of a rule: a query, or an expression over the step before it. */
export type RuleStep = {
  refId: string;
  queryType: string;
  relativeTimeRange: { from: number; to: number };
  datasourceUid: string;
  model: Readonly<Record<string, unknown>>;
};

/**
 * A rule as the platform's provisioning API takes it.
 *
 * Shape:  `for` is a Prometheus duration; the platform adds `id`, `orgID`, `updated`, `provenance` and defaults.
 * Source: grafana/grafana docs/sources/shared/alerts/alerting_provisioning.md, ProvisionedAlertRule, read 2026-11-21.
 */
export type RuleDocument = {
  uid: string;
  title: string;
  folderUID: string;
  ruleGroup: string;
  condition: string;
  for: string;
  noDataState: "OK" | "NoData" | "Alerting" | "KeepLast";
  execErrState: "OK" | "Error" | "Alerting" | "KeepLast";
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  data: readonly RuleStep[];
  /** Who receives the rule; without it, or null, the notification policies decide. */
  notification_settings?: NotificationSettings | null;
};

/** A rule's own way to its receiver; the keys beside `receiver` (grouping, repetition, mute times) are a person's. */
export type NotificationSettings = Readonly<Record<string, unknown>> & { receiver: string };

/** The data source of a step that is an expression. */
export const EXPRESSION_SOURCE = "__expr__";

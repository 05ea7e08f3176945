import { EXPRESSION_SOURCE, type RuleDocument, type RuleStep } from "../providers/grafana/document.ts";
import { type AlertRule, comparisonText } from "./rules/rule.ts";

/** Grafana's uids of the rules' folder and of the data sources that they read. */
export type GrafanaUids = { folder: string; metrics: string; logs: string };

/**
 * The names of the contact points that receive the rules; without one Grafana's notification policies decide.
 *
 * Shape: `fallback` is for the rules on the webhook itself, which the webhook may be unable to deliver.
 */
export type Receivers = { main?: string | undefined; fallback?: string | undefined };

/**
 * A rule in Grafana's form: A queries, B reduces to the newest number, C compares that number.
 *
 * Behaviour: without `dropNN` a NaN would pass the reduction and fire in the comparison. The group is repeated as a
 *            label, because an alert's labels do not have it otherwise and the webhook finds the squad by it. The
 *            label `via` marks the rules that have to reach people without the webhook; the annotation `unit` lets the
 *            webhook write the value with its unit.
 * Source:    monitoring document, Alert rules.
 */
export function ruleDocument(rule: AlertRule, uids: GrafanaUids, receivers: Receivers = {}): RuleDocument {
  const { group, severity, summary, description, unit, watchesWebhook } = rule;
  const { forMinutes = 0 } = rule.condition;
  const receiver = watchesWebhook ? receivers.fallback : receivers.main;
  const queryType = rule.source === "logs" ? "instant" : "";
  const kind = rule.source === "logs" ? { queryType } : { instant: true, range: false };
  const reduce = { type: "reduce", expression: "A", reducer: "last", settings: { mode: "dropNN" } };
  const compare = { type: "math", expression: `$B ${comparisonText(rule.condition)}` };
  return {
    uid: rule.uid,
    title: rule.title,
    folderUID: uids.folder,
    ruleGroup: group,
    condition: "C",
    // As Grafana writes it.
    for: forMinutes === 0 ? "0s" : `${forMinutes}m`,
    noDataState: "OK",
    execErrState: "Error",
    labels: { severity, ruleGroup: group, ...(watchesWebhook ? { via: "other" } : {}) },
    annotations: { summary, description, ...(unit === undefined ? {} : { unit }) },
    data: [
      step("A", uids[rule.source], { expr: rule.query, ...kind }, { queryType, from: 600 }),
      step("B", EXPRESSION_SOURCE, reduce),
      step("C", EXPRESSION_SOURCE, compare),
    ],
    ...(receiver === undefined ? {} : { notification_settings: { receiver } }),
  };
}

function step(
  refId: string,
  datasourceUid: string,
  model: Record<string, unknown>,
  { queryType = "", from = 0 } = {},
): RuleStep {
  return { refId, queryType, relativeTimeRange: { from, to: 0 }, datasourceUid, model: { refId, ...model } };
}

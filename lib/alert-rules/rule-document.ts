import { EXPRESSION_SOURCE, type RuleDocument, type RuleStep } from "../providers/grafana/document.ts";
import { renderDuration } from "./duration.ts";
import { type AlertRule, comparisonText } from "./rules/rule.ts";

/** Grafana's uids of the rules' folder and of the data sources that they read. */
export type GrafanaUids = { folder: string; metrics: string; logs: string };

/**
 * The names of the contact points that receive the rules; null where Grafana's notification policies decide.
 *
 * Shape: `fallback` is for the rules on the webhook itself, which the webhook may be unable to deliver.
 */
export type Receivers = { main: string | null; fallback: string | null };

/** No receiver is named: who receives a rule is neither compared nor changed. */
export const NO_RECEIVERS: Receivers = { main: null, fallback: null };

/** How far back Grafana lets an instant query look. */
const QUERY_RANGE = { from: 600, to: 0 };

/**
 * A rule in Grafana's form: A queries, B reduces to the newest number, C compares that number.
 *
 * Behaviour: without `dropNN` a NaN would pass the reduction and fire in the comparison. The group is repeated as a
 *            label, because an alert's labels do not have it otherwise and the webhook finds the squad by it. The
 *            label `via` marks the rules that have to reach people without the webhook; the annotation `unit` lets the
 *            webhook write the value with its unit.
 * Source:    monitoring document, Alert rules.
 */
export function ruleDocument(rule: AlertRule, uids: GrafanaUids, receivers = NO_RECEIVERS): RuleDocument {
  const { group, severity, summary, description, unit, watchesWebhook } = rule;
  const receiver = watchesWebhook ? receivers.fallback : receivers.main;
  const reduce = { type: "reduce", expression: "A", reducer: "last", settings: { mode: "dropNN" } };
  return {
    uid: rule.uid,
    title: rule.title,
    folderUID: uids.folder,
    ruleGroup: group,
    condition: "C",
    for: renderDuration(rule.forSeconds * 1000),
    noDataState: "OK",
    execErrState: "Error",
    labels: { severity, ruleGroup: group, ...(watchesWebhook ? { via: "other" } : {}) },
    annotations: { summary, description, ...(unit === undefined ? {} : { unit }) },
    data: [
      queryStep(rule, uids),
      expression("B", reduce),
      expression("C", { type: "math", expression: `$B ${comparisonText(rule.condition)}` }),
    ],
    ...(receiver === null ? {} : { notification_settings: { receiver } }),
  };
}

function queryStep({ source, query }: AlertRule, uids: GrafanaUids): RuleStep {
  const queryType = source === "logs" ? "instant" : "";
  const kind = source === "logs" ? { queryType } : { instant: true, range: false };
  const model = { refId: "A", expr: query, ...kind };
  return { refId: "A", queryType, relativeTimeRange: QUERY_RANGE, datasourceUid: uids[source], model };
}

function expression(refId: string, model: Record<string, unknown>): RuleStep {
  return {
    refId,
    queryType: "",
    relativeTimeRange: { from: 0, to: 0 },
    datasourceUid: EXPRESSION_SOURCE,
    model: { refId, ...model },
  };
}

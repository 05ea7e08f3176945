import { EXPRESSION_SOURCE, type RuleDocument, type RuleStep } from "../providers/grafana/document.ts";
import { renderDuration } from "./duration.ts";
import { NO_RECEIVERS, type Receivers, receiverOf } from "./receivers.ts";
import { type AlertRule, comparisonText } from "./rules/rule.ts";

/** The platform's uids: of the folder that holds the rules, and of the data sources that they read. */
export type PlatformUids = { folder: string; metrics: string; logs: string };

/** The label of the rules that have to reach people without the webhook. */
const VIA_OTHER = { label: "via", value: "other" } as const;

/** How far back the platform lets an instant query look. */
const QUERY_RANGE = { from: 600, to: 0 };
const NO_RANGE = { from: 0, to: 0 };

/**
 * A rule in the platform's form: A queries, B reduces to the newest number, C compares that number.
 *
 * Behaviour: without `dropNN` a NaN would pass the reduction and fire in the comparison. The group is repeated as a
 *            label, because an alert's labels do not have it otherwise and the webhook finds the squad by it. The
 *            annotation `unit` lets the webhook write the value with its unit.
 * Source:    monitoring document, Alert rules.
 */
export function ruleDocument(
  rule: AlertRule,
  uids: PlatformUids,
  receivers: Receivers = NO_RECEIVERS,
): RuleDocument {
  const receiver = receiverOf(rule, receivers);
  return {
    uid: rule.uid,
    title: rule.title,
    folderUID: uids.folder,
    ruleGroup: rule.group,
    condition: "C",
    for: renderDuration(rule.forSeconds * 1000),
    noDataState: "OK",
    execErrState: "Error",
    labels: {
      severity: rule.severity,
      ruleGroup: rule.group,
      ...(rule.watchesWebhook ? { [VIA_OTHER.label]: VIA_OTHER.value } : {}),
    },
    annotations: {
      summary: rule.summary,
      description: rule.description,
      ...(rule.unit === undefined ? {} : { unit: rule.unit }),
    },
    data: [
      rule.source === "metrics" ? metricsQuery(rule.query, uids) : logsQuery(rule.query, uids),
      expression("B", { type: "reduce", expression: "A", reducer: "last", settings: { mode: "dropNN" } }),
      expression("C", { type: "math", expression: `$B ${comparisonText(rule.condition)}` }),
    ],
    ...(receiver === null ? {} : { notification_settings: { receiver } }),
  };
}

function metricsQuery(expr: string, { metrics }: PlatformUids): RuleStep {
  const model = { refId: "A", expr, instant: true, range: false };
  return { refId: "A", queryType: "", relativeTimeRange: QUERY_RANGE, datasourceUid: metrics, model };
}

function logsQuery(expr: string, { logs }: PlatformUids): RuleStep {
  const model = { refId: "A", expr, queryType: "instant" };
  return { refId: "A", queryType: "instant", relativeTimeRange: QUERY_RANGE, datasourceUid: logs, model };
}

function expression(refId: string, model: Record<string, unknown>): RuleStep {
  return {
    refId,
    queryType: "",
    relativeTimeRange: NO_RANGE,
    datasourceUid: EXPRESSION_SOURCE,
    model: { refId, ...model },
  };
}

/** The groups of the rules; the webhook finds the squad by the group's name. */
export const RULE_GROUPS = ["vps-infra", "vps-security"] as const;

/** One of the two groups. */
export type RuleGroup = (typeof RULE_GROUPS)[number];

/** How urgent an alert is, the most urgent first. */
export type Severity = "critical" | "high" | "warning" | "info";

/**
 * One alert rule of opsctl; `ruleDocument` turns it into Grafana's three steps.
 *
 * Shape: `uid` is the rule's identity in Grafana and never changes. `query` yields exactly one series, for any
 *        number of CPUs, mount points, projects and hosts; `condition` compares its newest value. `lookbackSeconds` is
 *        the time that the query itself looks back, 0 when it reads the newest value only. `summary` and `description`
 *        are for people (pt-BR); `{{ … }}` in them is Grafana's template.
 */
export type AlertRule = {
  uid: string;
  title: string;
  group: RuleGroup;
  source: "metrics" | "logs";
  query: string;
  lookbackSeconds: number;
  condition: { operator: ">" | ">=" | "<"; threshold: number };
  forSeconds: number;
  severity: Severity;
  summary: string;
  description: string;
  unit?: "bytes" | "percent";
  watchesWebhook?: true;
};

/** What most rules have in common: they read the newest value of a metric of the host, and fire at once. */
export const ON_METRICS = {
  group: "vps-infra",
  source: "metrics",
  lookbackSeconds: 0,
  forSeconds: 0,
} as const;

/** The comparison as text, for Grafana's math step and for promtool: `> 1000`. */
export function comparisonText({ operator, threshold }: AlertRule["condition"]): string {
  return `${operator} ${threshold}`;
}

const NO_VALUE = "(sem valor)";

/**
 * The template that Grafana expands to a rule's newest value in an annotation; "(sem valor)" without a value.
 *
 * Behaviour: Grafana expands annotations also when the evaluation failed, and then there are no values; a step without
 *            a number has NaN, which does not equal itself.
 * Units:     `decimals` after the point.
 * Source:    grafana/grafana pkg/services/ngalert/state/template/template.go (`NewValues`, `Expand`), read 2026-11-22.
 */
export function newestValue(decimals: 0 | 2 = 0): string {
  const number = `{{ if eq .Value .Value }}{{ printf "%.${decimals}f" .Value }}{{ else }}${NO_VALUE}{{ end }}`;
  return `{{ with $values.B }}${number}{{ else }}${NO_VALUE}{{ end }}`;
}

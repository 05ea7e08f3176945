/** The groups of the rules; the webhook finds the squad by the group's name. */
export const RULE_GROUPS = ["vps-infra", "vps-security"] as const;

/**
 * One alert rule of opsctl; `ruleDocument` turns it into Grafana's three steps.
 *
 * Shape: `uid` is the rule's identity in Grafana and never changes. `query` yields exactly one series, for any number of
 *        CPUs, mount points, projects and hosts; `condition` compares its newest value, and has to hold for
 *        `forMinutes`, below an hour. `summary` and `description` are for people (pt-BR); `{{ … }}` is Grafana's template.
 */
export type AlertRule = {
  uid: string;
  title: string;
  group: (typeof RULE_GROUPS)[number];
  source: "metrics" | "logs";
  query: string;
  condition: { operator: ">" | ">=" | "<"; threshold: number; forMinutes?: number };
  severity: "critical" | "high" | "warning" | "info";
  summary: string;
  description: string;
  unit?: "bytes" | "percent";
  watchesWebhook: boolean;
};

/** What a row of the tables may leave out. */
export const RULE_DEFAULTS = {
  group: "vps-infra",
  source: "metrics",
  watchesWebhook: false,
} as const satisfies Partial<AlertRule>;

/** A rule as the tables have it. */
export type RuleRow = Omit<AlertRule, keyof typeof RULE_DEFAULTS> & Partial<AlertRule>;

/** The comparison as text, for Grafana's math step and for promtool: `> 1000`. */
export function comparisonText({ operator, threshold }: AlertRule["condition"]): string {
  return `${operator} ${threshold}`;
}

/**
 * The template that Grafana expands to a rule's newest value in an annotation; "(sem valor)" without a value.
 *
 * Behaviour: Grafana expands annotations also when the evaluation failed, and then there are no values; a step without
 *            a number has NaN, which does not equal itself.
 * Source:    grafana/grafana pkg/services/ngalert/state/template/template.go (`NewValues`, `Expand`), read 2026-11-22.
 */
export function newestValue(decimals: 0 | 2): string {
  const none = "(sem valor)";
  const number = `{{ if eq .Value .Value }}{{ printf "%.${decimals}f" .Value }}{{ else }}${none}{{ end }}`;
  return `{{ with $values.B }}${number}{{ else }}${none}{{ end }}`;
}

/** The template of the newest value as a whole number. */
export const NEWEST_VALUE = newestValue(0);

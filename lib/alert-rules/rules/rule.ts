/** The groups of the rules; the webhook finds the squad by the group's name. */
export const RULE_GROUPS = ["vps-infra", "vps-security"] as const;

/** One of the two groups. */
export type RuleGroup = (typeof RULE_GROUPS)[number];

/** How urgent an alert is, the most urgent first. */
export type Severity = "critical" | "high" | "warning" | "info";

/**
 * One alert rule of opsctl; `ruleDocument` turns it into the platform's three steps.
 *
 * Shape: `uid` is the rule's identity on the platform and never changes. `query` yields exactly one series, for any
 *        number of CPUs, mount points, projects and hosts; `condition` compares its newest value. `lookbackSeconds` is
 *        the time that the query itself looks back, 0 when it reads the newest value only. `summary` and `description`
 *        are for people (pt-BR); `{{ … }}` in them is the platform's template.
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

/** The comparison as text, for the platform's math step and for its rule tester: `> 1000`. */
export function comparisonText({ operator, threshold }: AlertRule["condition"]): string {
  return `${operator} ${threshold}`;
}

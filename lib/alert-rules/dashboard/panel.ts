import type { AlertRule } from "../rules/rule.ts";

/** One line of a panel: its query, and how the platform names it; `{{label}}` is the platform's template. */
export type Line = { query: string; legend: string };

/** The platform's names of the units that are used. */
export type Unit = "short" | "bytes" | "percent" | "s" | "bool";

/**
 * One panel of the dashboard.
 *
 * Shape: `limit` is the rule whose threshold is drawn in. `lines` read the metrics store, or with `source: "logs"` the
 *        logs store. `title` is for people (pt-BR).
 */
export type Panel = {
  title: string;
  source: AlertRule["source"];
  unit: Unit;
  lines: readonly Line[];
  limit: AlertRule["condition"] | null;
};

/** A panel without a threshold. */
export function plainPanel(title: string, unit: Unit, ...lines: readonly Line[]): Panel {
  return { title, source: "metrics", unit, lines, limit: null };
}

/** The panel of a rule: its own query with its threshold, and lines beside it that tell more. */
export function rulePanel(rule: AlertRule, unit: Unit, ...beside: readonly Line[]): Panel {
  const lines = [{ query: rule.query, legend: "alerta" }, ...beside];
  return { title: rule.title, source: rule.source, unit, lines, limit: rule.condition };
}

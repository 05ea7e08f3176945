/** The installed dashboard: its form is Grafana's, and each query is of its grammar. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parser as logs } from "@grafana/lezer-logql";
import { parser as metrics } from "@prometheus-io/lezer-promql";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { METRIC } from "../../lib/host/metric-names.ts";
import { SOURCES } from "../../lib/metrics/sources.ts";
import { promtoolFindings } from "../support/promtool.ts";
import { requires } from "../support/requires.ts";
import type { LooseRule } from "./support/documents.ts";
import { mistakesOf } from "./support/grammar.ts";

// `opsctl alert-rules dashboard` prints this file; tests/e2e/host/alert-rules.test.ts compares them.
const FILE = new URL("../../systemd/agent/dashboard.json", import.meta.url);

const document = JSON.parse(readFileSync(FILE, "utf8")) as LooseRule;
const all: LooseRule[] = document.panels;
const panels = all.filter(({ type }) => type !== "row");
const rules = alertRules({ withExtras: true });

/** What the metrics store's checker says of these queries; nothing when it takes all of them. */
function typeMistakes(queries: readonly string[]): string {
  const rules = queries.map((expr, at) => ({ record: `dashboard:query_${at}`, expr }));
  return promtoolFindings(["check", "rules", "rules.yml"], {
    "rules.yml": { groups: [{ name: "dashboard", rules }] },
  });
}

describe("the dashboard", () => {
  test("has what Grafana's import asks for, three rows, and data sources by its variables alone", () => {
    expect(document).toMatchObject({ uid: "opsctl", schemaVersion: 39, timezone: "America/Sao_Paulo" });
    expect(document).not.toHaveProperty("id");
    const variables = document.templating.list.map((one: LooseRule) => [one.name, one.type, one.query]);
    expect(variables).toEqual([
      ["metrics", "datasource", "prometheus"],
      ["logs", "datasource", "loki"],
    ]);
    const titles = all.filter(({ type }) => type === "row").map(({ title }) => title);
    expect(titles).toEqual(["VPS", "Alarme", "Relatório semanal"]);
    const uids: Record<string, string> = { prometheus: `\${metrics}`, loki: `\${logs}` };
    expect(panels.length).toBeGreaterThan(20);
    for (const { datasource, targets } of panels)
      for (const source of [datasource, ...targets.map((target: LooseRule) => target.datasource)])
        expect(source).toEqual({ type: datasource.type, uid: uids[datasource.type] });
  });

  test("numbers its panels, and lays no two over each other", () => {
    expect(all.map(({ id }) => id)).toEqual(all.map((_panel, at) => at + 1));
    const cells = new Set<string>();
    for (const { gridPos } of all) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(cells.has(`${x}/${y}`)).toBe(false);
          cells.add(`${x}/${y}`);
        }
    }
  });

  test.each(rules)(
    "draws the threshold of $uid into the panel of its query",
    ({ title, query, condition }) => {
      expect(panels.map((one) => one.title)).toContain(title);
      const panel = panels.find((one) => one.title === title)!;
      expect(panel.targets[0].expr).toBe(query);
      const { thresholds, custom } = panel.fieldConfig.defaults;
      expect(custom.thresholdsStyle.mode).toBe("line");
      const [below, above] = condition.operator === "<" ? ["red", "green"] : ["green", "red"];
      expect(thresholds.steps).toEqual([
        { color: below, value: null },
        { color: above, value: condition.threshold },
      ]);
    },
  );

  test("shows every series that the collector writes", () => {
    const text = JSON.stringify(panels);
    const names = new Set([...Object.values(METRIC), ...SOURCES.flatMap(({ help }) => Object.keys(help))]);
    expect([...names].filter((name) => !text.includes(name))).toEqual([]);
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    "%s: each query is of its grammar",
    (_title, panel) => {
      const grammar = panel.datasource.type === "loki" ? logs : metrics;
      expect(panel.targets.length).toBeGreaterThan(0);
      expect(panel.targets.map(({ refId }: LooseRule) => refId)).toEqual(
        [..."ABC"].slice(0, panel.targets.length),
      );
      for (const { expr, legendFormat, queryType, range } of panel.targets) {
        expect(mistakesOf(grammar, expr)).toEqual([]);
        expect(legendFormat).not.toBe("");
        expect(panel.datasource.type === "loki" ? queryType : range).toBe(
          panel.datasource.type === "loki" ? "range" : true,
        );
      }
    },
  );

  requires("promtool").test("each query on metrics is also of the right types", () => {
    const queries = panels
      .filter(({ datasource }) => datasource.type === "prometheus")
      .flatMap(({ targets }) => targets.map(({ expr }: LooseRule) => expr as string));
    expect(typeMistakes(queries)).toBe("");
    // What the grammar alone lets pass.
    expect(typeMistakes(["sum(time())"])).toContain("expected type instant vector");
  });

  test("names a label in a legend only where the query keeps it", () => {
    const targets = panels.flatMap((panel) => panel.targets as { expr: string; legendFormat: string }[]);
    const named = targets.flatMap(({ expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => ({ expr, label })),
    );
    expect(named.length).toBeGreaterThan(5);
    for (const { expr, label } of named) expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
  });
});

import type { AlertRule } from "../rules/rule.ts";
import { type Panel, SECTIONS } from "./sections.ts";

const COLUMNS = 24;
const PANEL = { w: 8, h: 7 };
const STYLE = { drawStyle: "line", lineWidth: 1, fillOpacity: 10, showPoints: "never", spanNulls: false };

/** The variables of the data sources, which are chosen when the dashboard is imported. */
const SOURCES = {
  metrics: { type: "prometheus", uid: `\${metrics}` },
  logs: { type: "loki", uid: `\${logs}` },
} as const;

/**
 * The dashboard of host, alerts and weekly run, as Grafana imports it.
 *
 * Shape:  no `id`, and a `uid` that never changes, so that a later import replaces it. Newer versions of Grafana migrate
 *         `schemaVersion` as they load it.
 * Source: Grafana docs, Dashboard JSON model, read 2026-11-22.
 */
export function dashboard(): object {
  return {
    uid: "opsctl",
    title: "opsctl: VPS, alarme e relatório semanal",
    tags: ["opsctl"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "1m",
    time: { from: "now-24h", to: "now" },
    timezone: "America/Sao_Paulo",
    annotations: { list: [] },
    links: [],
    templating: { list: [sourceVariable("metrics", "Métricas"), sourceVariable("logs", "Logs")] },
    panels: placedPanels(),
  };
}

function sourceVariable(name: keyof typeof SOURCES, label: string): object {
  const fixed = { type: "datasource", refresh: 1, hide: 0, regex: "", multi: false, includeAll: false };
  return { name, label, query: SOURCES[name].type, ...fixed, current: {}, options: [] };
}

/** The panels in rows of three, each section below a heading. */
function placedPanels(): object[] {
  const placed: object[] = [];
  const perRow = COLUMNS / PANEL.w;
  let top = 0;
  for (const { title, panels } of SECTIONS) {
    const gridPos = { x: 0, y: top, w: COLUMNS, h: 1 };
    placed.push({ id: placed.length + 1, type: "row", title, collapsed: false, gridPos, panels: [] });
    for (const [at, panel] of panels.entries()) {
      const y = top + 1 + Math.floor(at / perRow) * PANEL.h;
      const place = { x: (at % perRow) * PANEL.w, y, ...PANEL };
      placed.push({ id: placed.length + 1, ...panelDocument(panel, place) });
    }
    top += 1 + Math.ceil(panels.length / perRow) * PANEL.h;
  }
  return placed;
}

function panelDocument({ title, source, unit, lines, limit }: Panel, gridPos: object): object {
  return {
    type: "timeseries",
    title,
    datasource: SOURCES[source],
    gridPos,
    fieldConfig: {
      defaults: {
        unit,
        color: { mode: "palette-classic" },
        custom: { ...STYLE, thresholdsStyle: { mode: limit === null ? "off" : "line" } },
        thresholds: { mode: "absolute", steps: thresholdSteps(limit) },
      },
      overrides: [],
    },
    options: {
      legend: { showLegend: true, displayMode: "list", placement: "bottom", calcs: [] },
      tooltip: { mode: "multi", sort: "desc" },
    },
    targets: Object.entries(lines).map(([legend, query], at) => ({
      refId: "ABC"[at],
      datasource: SOURCES[source],
      ...(source === "metrics" ? { editorMode: "code", range: true } : { queryType: "range" }),
      expr: query,
      legendFormat: legend,
    })),
  };
}

/** Green on the side where the rule is silent, red where it fires; the first step begins at minus infinity. */
function thresholdSteps(limit: AlertRule["condition"] | null): object[] {
  if (limit === null) return [{ color: "green", value: null }];
  const [below, above] = limit.operator === "<" ? ["red", "green"] : ["green", "red"];
  return [
    { color: below, value: null },
    { color: above, value: limit.threshold },
  ];
}

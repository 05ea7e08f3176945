import { expect, test } from "bun:test";
import { parser as logs } from "@grafana/lezer-logql";
import { parser as metrics } from "@prometheus-io/lezer-promql";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { ruleProblem } from "../standins/grafana-rule.ts";
import { promtoolFindings } from "../support/promtool.ts";
import { requires } from "../support/requires.ts";
import { documents, loose } from "./support/documents.ts";
import { mistakesOf } from "./support/grammar.ts";
import { VALUE_CASES, withValue } from "./support/value-cases.ts";

/** The reference's table: title, comparison, for, and what is not `vps-infra` and without a unit. */
const TABLE = [
  ["VPS Load Average Alto", "$B > 1", "5m"],
  ["Traefik RAM Alta", "$B > 524288000", "5m", { unit: "bytes" }],
  ["TCP CLOSE_WAIT Excessivo", "$B > 1000", "5m"],
  ["Disco Raiz Baixo", "$B < 15", "10m", { unit: "percent" }],
  ["RAM Disponível Baixa", "$B < 20", "10m", { unit: "percent" }],
  ["Vercel Deploy Falhado", "$B >= 1", "2m"],
  ["SSH Brute Force", "$B > 10", "0s", { group: "vps-security" }],
] as const;
const EXTRAS = [
  ["Sockets TCP Excessivos", "$B > 10000", "5m"],
  ["Relatório semanal atrasado", "$B > 691200", "0s"],
  ["Relatório semanal não rodou", "$B >= 1", "0s"],
  ["Relatório semanal incompleto", "$B >= 1", "0s"],
  ["Coletor parado", "$B > 300", "0s"],
  ["Coletor com falha", "$B < 1", "10m"],
  ["Webhook de alertas parado", "$B < 1", "0s", { via: "other" }],
  ["Webhook com alertas parados", "$B > 600", "0s", { via: "other" }],
  ["Alertas não entregues", "$B > 0", "0s", { via: "other" }],
  ["Gateway desconectado", "$B < 1", "5m", { via: "other" }],
  ["WhatsApp sem confirmação", "$B > 2", "10m", { via: "other" }],
  ["Log de segurança parado", "$B < 1", "0s", { group: "vps-security" }],
] as const;
/** The rules whose value is a mere yes or no, which their texts do not show. */
const WITHOUT_VALUE = [
  ...["opsctl-deploy-failed", "opsctl-weekly-report-not-run", "opsctl-weekly-report-incomplete"],
  ...["opsctl-collector-failing", "opsctl-webhook-stopped", "opsctl-gateway-disconnected"],
  "opsctl-security-log-silent",
];

const rules = alertRules({ withExtras: true });

test("the rules are the reference's seven, and with extras twelve more", () => {
  expect(documents().map(({ title }) => title)).toEqual(TABLE.map(([title]) => title));
  expect(new Set(rules.map(({ uid }) => uid)).size).toBe(19);
  for (const { uid, title } of rules) {
    expect(uid).toMatch(/^opsctl-[a-z-]{1,33}$/);
    expect(title).toBe(title.normalize("NFC"));
  }
});

test.each([...TABLE, ...EXTRAS].map((row, at) => [row[0], row, documents(true)[at]!] as const))(
  "%s is a document that Grafana takes, with the fields of the contract",
  (title, [, comparison, wait, more = {}], document) => {
    const { group = "vps-infra", unit, via } = more as { group?: string; unit?: string; via?: string };
    const { data, labels, annotations, ...others } = loose(document);
    const [uid, isLogs] = [document.uid, group === "vps-security"];
    const fixed = { condition: "C", noDataState: "OK", execErrState: "Error" };
    expect(others).toEqual({ uid, title, folderUID: "vps", ruleGroup: group, for: wait, ...fixed });
    expect(ruleProblem(loose(document))).toBeNull();

    expect(["critical", "high", "warning", "info"]).toContain(labels.severity);
    expect(labels).toEqual({ severity: labels.severity, ruleGroup: group, ...(via && { via }) });
    const { summary, description, ...rest } = annotations;
    expect(rest).toEqual(unit === undefined ? {} : { unit });
    expect(summary.length).toBeGreaterThan(10);
    expect(description).toContain("Veja primeiro");
    expect(description.includes("{{")).toBe(!WITHOUT_VALUE.includes(uid));
    // No template but the guarded values.
    expect(withValue(summary, VALUE_CASES[0]!)).toBe(summary);
    expect(withValue(description, VALUE_CASES[0]!)).not.toMatch(/[{}]{2}|\$(values|labels|value)\b/);

    const query: string = data[0].model.expr;
    const kind = isLogs ? { queryType: "instant" } : { instant: true, range: false };
    const settings = { mode: "dropNN" };
    expect(
      data.map((step: { datasourceUid: string; model: object }) => [step.datasourceUid, step.model]),
    ).toEqual([
      [isLogs ? "loki-1" : "prom-1", { refId: "A", expr: query, ...kind }],
      ["__expr__", { refId: "B", type: "reduce", expression: "A", reducer: "last", settings }],
      ["__expr__", { refId: "C", type: "math", expression: comparison }],
    ]);
    expect(query).not.toMatch(isLogs ? /instance=/ : /\b(job|instance)\s*(=|!)/);
    const grammar = isLogs ? logs : metrics;
    expect(mistakesOf(grammar, query)).toEqual([]);
    // A grammar that reads anything proves nothing.
    expect(mistakesOf(grammar, query.replace(")", ""))).not.toEqual([]);
  },
);

type Texts = { uid: string; summary: string; description: string };

/** Declares `$values`: empty in the case named none, else with the sample of the case. */
const PREFIX =
  '{{ $values := args }}{{ if ne $labels.case "none" }}' +
  '{{ $values = args (query (printf "sample{case=%q}" $labels.case) | first) }}{{ end }}';

/** What the engine found different from the expected texts; nothing when all are as expected. */
function textFindings(annotated: readonly Texts[]): string {
  const expandable = (text: string) => PREFIX + text.replaceAll("$values.B", "$values.arg0");
  const ruleOf = ({ uid, summary, description }: Texts) => ({
    alert: uid,
    expr: "sample",
    annotations: { summary: expandable(summary), description: expandable(description) },
  });
  const expected = ({ summary, description }: Texts) =>
    VALUE_CASES.map((one) => ({
      exp_labels: { case: one.name },
      exp_annotations: { summary: withValue(summary, one), description: withValue(description, one) },
    }));
  const series = VALUE_CASES.map(({ name, sample }) => ({
    series: `sample{case="${name}"}`,
    values: `${sample} ${sample}`,
  }));
  const alerts = annotated.map((rule) => ({
    eval_time: "1m",
    alertname: rule.uid,
    exp_alerts: expected(rule),
  }));
  return promtoolFindings(["test", "rules", "test.yml"], {
    "rules.yml": { groups: [{ name: "annotations", rules: annotated.map(ruleOf) }] },
    "test.yml": {
      rule_files: ["rules.yml"],
      evaluation_interval: "1m",
      tests: [{ interval: "1m", input_series: series, alert_rule_test: alerts }],
    },
  });
}

requires("promtool").describe("the annotations", () => {
  test("of all rules say what was measured, or that nothing was", () => {
    expect(textFindings(rules)).toBe("");
  });

  test("are really expanded: a value without its guard is found", () => {
    const bare = { uid: "bare", summary: "s", description: 'x {{ printf "%.0f" $values.B.Value }}' };
    expect(textFindings([bare])).toContain("error expanding template");
  });
});

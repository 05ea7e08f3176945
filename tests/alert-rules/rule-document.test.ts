import { describe, expect, test } from "bun:test";
import { parser as logs } from "@grafana/lezer-logql";
import { parser as metrics } from "@prometheus-io/lezer-promql";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { RULE_GROUPS } from "../../lib/alert-rules/rules/rule.ts";
import { ruleProblem } from "../standins/grafana-rule.ts";
import { documents, type LooseRule, loose } from "./support/documents.ts";
import { mistakesOf } from "./support/grammar.ts";

/** The reference's table: title, group, comparison, for. */
const TABLE = [
  ["VPS Load Average Alto", "vps-infra", "$B > 1", "5m"],
  ["Traefik RAM Alta", "vps-infra", "$B > 524288000", "5m"],
  ["TCP CLOSE_WAIT Excessivo", "vps-infra", "$B > 1000", "5m"],
  ["Disco Raiz Baixo", "vps-infra", "$B < 15", "10m"],
  ["RAM Disponível Baixa", "vps-infra", "$B < 20", "10m"],
  ["Vercel Deploy Falhado", "vps-infra", "$B >= 1", "2m"],
  ["SSH Brute Force", "vps-security", "$B > 10", "0s"],
];

const EXTRAS = [
  ["Sockets TCP Excessivos", "vps-infra", "$B > 10000", "5m"],
  ["Relatório semanal atrasado", "vps-infra", "$B > 691200", "0s"],
  ["Relatório semanal não rodou", "vps-infra", "$B >= 1", "0s"],
  ["Relatório semanal incompleto", "vps-infra", "$B >= 1", "0s"],
  ["Coletor parado", "vps-infra", "$B > 300", "0s"],
  ["Coletor com falha", "vps-infra", "$B < 1", "10m"],
  ["Webhook de alertas parado", "vps-infra", "$B < 1", "0s"],
  ["Webhook com alertas parados", "vps-infra", "$B > 600", "0s"],
  ["Alertas não entregues", "vps-infra", "$B > 0", "0s"],
  ["Gateway desconectado", "vps-infra", "$B < 1", "5m"],
  ["WhatsApp sem confirmação", "vps-infra", "$B > 2", "10m"],
  ["Log de segurança parado", "vps-security", "$B < 1", "0s"],
];

/** The rules on the webhook itself. */
const ON_THE_WEBHOOK = EXTRAS.slice(6, 11).map(([title]) => title);
/** The units of the values that have one. */
const UNITS: Record<string, string> = {
  "Traefik RAM Alta": "bytes",
  "Disco Raiz Baixo": "percent",
  "RAM Disponível Baixa": "percent",
};

const rowOf = (document: LooseRule) => [
  document.title,
  document.ruleGroup,
  document.data[2].model.expression,
  document.for,
];

test("the rules are the reference's seven, and with extras twelve more", () => {
  expect(documents().map(rowOf)).toEqual(TABLE);
  expect(documents(true).map(rowOf)).toEqual([...TABLE, ...EXTRAS]);
  for (const { title } of documents(true)) expect(title).toBe(title.normalize("NFC"));
});

test("uids and titles are unique, and uids are of Grafana's form", () => {
  const rules = alertRules({ withExtras: true });
  expect(new Set(rules.map(({ uid }) => uid)).size).toBe(rules.length);
  expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
  for (const { uid } of rules) expect(uid).toMatch(/^opsctl-[a-z-]{1,33}$/);
});

describe.each(documents(true).map((document) => [document.title, document] as const))(
  "%s",
  (_title, document) => {
    const { data, labels, annotations } = loose(document);

    test("has exactly the fields of the contract, and Grafana takes it", () => {
      expect(Object.keys(document).sort()).toEqual(
        [
          ...["annotations", "condition", "data", "execErrState", "folderUID", "for"],
          ...["labels", "noDataState", "ruleGroup", "title", "uid"],
        ].sort(),
      );
      expect(document).toMatchObject({ condition: "C", noDataState: "OK", execErrState: "Error" });
      expect(ruleProblem(loose(document))).toBeNull();
    });

    test("asks, reduces and compares, in this order", () => {
      expect(data.map(({ refId }: { refId: string }) => refId)).toEqual(["A", "B", "C"]);
      expect(data[1]).toMatchObject({
        datasourceUid: "__expr__",
        model: { refId: "B", type: "reduce", expression: "A", reducer: "last", settings: { mode: "dropNN" } },
      });
      expect(data[2]).toMatchObject({ datasourceUid: "__expr__", model: { refId: "C", type: "math" } });
      expect(data[2].model.expression).toMatch(/^\$B (>|>=|<) \d+$/);
      const isLogs = ["SSH Brute Force", "Log de segurança parado"].includes(document.title);
      expect(data[0].datasourceUid).toBe(isLogs ? "loki-1" : "prom-1");
      expect(data[0].model).toMatchObject(
        isLogs ? { queryType: "instant" } : { instant: true, range: false },
      );
      expect(data[0].model.expr).not.toMatch(isLogs ? /instance=/ : /\b(job|instance)\s*(=|!)/);
    });

    test("asks in its language's grammar", () => {
      const query: string = data[0].model.expr;
      const grammar = data[0].datasourceUid === "loki-1" ? logs : metrics;
      expect(mistakesOf(grammar, query)).toEqual([]);
      // A grammar that reads anything proves nothing.
      expect(mistakesOf(grammar, query.replace(")", ""))).not.toEqual([]);
    });

    test("names its severity and group, and tells people what to do", () => {
      expect(["critical", "high", "warning", "info"]).toContain(labels.severity);
      expect(RULE_GROUPS).toContain(labels.ruleGroup);
      const via = ON_THE_WEBHOOK.includes(document.title) ? { via: "other" } : {};
      expect(labels).toEqual({ severity: labels.severity, ruleGroup: document.ruleGroup, ...via });
      const { summary, description, ...others } = annotations;
      const unit = UNITS[document.title];
      expect(others).toEqual(unit === undefined ? {} : { unit });
      expect(summary.length).toBeGreaterThan(10);
      expect(summary).not.toContain("{{");
      expect(description).toContain("Veja primeiro");
    });
  },
);

import { expect, test } from "bun:test";
import { ruleDocument } from "../../../lib/alert-rules/rule-document.ts";
import { WEBHOOK_RULES } from "../../../lib/alert-rules/rules/webhook.ts";
import { aboutAlert } from "../../../lib/webhook/alert/about.ts";

const UIDS = { folder: "f", metrics: "m", logs: "l" };

test.each([
  [{ instance: "main", host: "h", project: "p", job: "j" }, "main"],
  [{ instance: "", host: "h", job: "j" }, "h"],
  [{ project: "p", job: "j" }, "p"],
  [{ pod: "api-1", cluster: "prod", zone: "z" }, "prod · api-1"],
  [{ alertname: "DatasourceError", rulename: "R", datasource_uid: "prom", ref_id: "A", zone: "z" }, "z"],
  [{ alertname: "A", severity: "critical", ruleGroup: "g", grafana_folder: "f" }, ""],
])("aboutAlert() of %p is %p", (labels, about) => {
  expect(aboutAlert({ labels: labels as unknown as Record<string, string> })).toBe(about);
});

test.each([...WEBHOOK_RULES])("aboutAlert() makes no neighbour of the way by which $title comes", (rule) => {
  const { labels } = ruleDocument(rule, UIDS);
  expect(labels.via).toBe("other");
  expect(aboutAlert({ labels: { alertname: rule.title, ...labels } })).toBe("");
});

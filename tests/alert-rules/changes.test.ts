import { describe, expect, test } from "bun:test";
import { fieldChanges } from "../../lib/alert-rules/changes.ts";
import { storedRule } from "../standins/grafana-rule.ts";
import { documents, type LooseRule, loose } from "./support/documents.ts";

const [first] = documents();
const logs = documents().find(({ title }) => title === "SSH Brute Force");

describe("fieldChanges() sees no difference", () => {
  test.each(documents(true).map((document) => [document.uid, document] as const))(
    "between %s and what the platform makes of it",
    (_uid, document) => {
      expect(fieldChanges(storedRule(loose(document), 7, "api"), document)).toEqual([]);
    },
  );

  const same: [string, (rule: LooseRule) => void][] = [
    ["in a duration written differently", (rule) => (rule.for = "300s")],
    ["in the old name of the expressions' source", (rule) => (rule.data[1].datasourceUid = "-100")],
    ["in an expression's time range", (rule) => (rule.data[2].relativeTimeRange = { from: 600, to: 0 })],
    ["in an expression's kind of query", (rule) => (rule.data[1].queryType = "expression")],
    [
      "in provenance, owner and time",
      (rule) => Object.assign(rule, { provenance: "", orgID: 9, updated: "x" }),
    ],
    ["in a key that is not known yet", (rule) => (rule.guid = "abc")],
    ["in what the pages add to a model", (rule) => (rule.data[0].model.editorMode = "code")],
    ["in defaults that are left out", (rule) => delete rule.isPaused],
  ];
  test.each(same)("%s", (_name, change) => {
    const present = loose(first);
    change(present);
    expect(fieldChanges(present, first)).toEqual([]);
  });

  test("in the receiver and what stands beside it, where none is wanted", () => {
    const present = loose(first);
    present.notification_settings = { receiver: "x", group_by: ["alertname"] };
    expect(fieldChanges(present, first)).toEqual([]);
  });

  test("in what a person set beside the wanted receiver", () => {
    const wanted = { ...first, notification_settings: { receiver: "opsctl" } };
    const present = loose(first);
    present.notification_settings = { receiver: "opsctl", mute_time_intervals: ["noite"] };
    expect(fieldChanges(present, wanted)).toEqual([]);
  });

  test("in the outer kind of query, which the model decides", () => {
    const present = loose(logs);
    present.data[0].queryType = "";
    expect(fieldChanges(present, logs)).toEqual([]);
  });
});

describe("fieldChanges() names", () => {
  const drift: [string, unknown, unknown, (rule: LooseRule) => void][] = [
    ["title", "Outro", first!.title, (rule) => (rule.title = "Outro")],
    ["folderUID", "x", "vps", (rule) => (rule.folderUID = "x")],
    ["ruleGroup", "x", "vps-infra", (rule) => (rule.ruleGroup = "x")],
    ["condition", "B", "C", (rule) => (rule.condition = "B")],
    ["for", "1m30s", "5m", (rule) => (rule.for = "90s")],
    ["for", "soon", "5m", (rule) => (rule.for = "soon")],
    ["noDataState", "NoData", "OK", (rule) => (rule.noDataState = "NoData")],
    ["execErrState", "Alerting", "Error", (rule) => (rule.execErrState = "Alerting")],
    ["isPaused", true, null, (rule) => (rule.isPaused = true)],
    ["keep_firing_for", "5m", null, (rule) => (rule.keep_firing_for = "5m")],
    ["labels.severity", "info", "warning", (rule) => (rule.labels.severity = "info")],
    ["labels.ruleGroup", null, "vps-infra", (rule) => delete rule.labels.ruleGroup],
    ["labels.team", "x", null, (rule) => (rule.labels.team = "x")],
    ["annotations.summary", "x", first!.annotations.summary, (rule) => (rule.annotations.summary = "x")],
    ["data.A.datasourceUid", "other", "prom-1", (rule) => (rule.data[0].datasourceUid = "other")],
    ["data.A.relativeTimeRange.from", 60, 600, (rule) => (rule.data[0].relativeTimeRange.from = 60)],
    ["data.A.model.instant", false, true, (rule) => delete rule.data[0].model.instant],
    ["data.A.model.intervalMs", 5, 1000, (rule) => (rule.data[0].model.intervalMs = 5)],
    ["data.B.model.reducer", "mean", "last", (rule) => (rule.data[1].model.reducer = "mean")],
    ["data.B.model.settings.mode", null, "dropNN", (rule) => delete rule.data[1].model.settings],
    ["data.C.model.expression", "$A > 1", "$B > 1", (rule) => (rule.data[2].model.expression = "$A > 1")],
    ["data.C.model.type", "threshold", "math", (rule) => (rule.data[2].model.type = "threshold")],
  ];
  test.each(drift)("%s: %p -> %p", (path, from, to, change) => {
    const present = loose(first);
    change(present);
    expect(fieldChanges(present, first)).toEqual([{ path, from, to }]);
  });

  test.each([
    [{ receiver: "x", group_wait: "1m" }, "x"],
    [null, null],
  ])("the receiver, where one is wanted: %p", (settings, from) => {
    const wanted = { ...first, notification_settings: { receiver: "opsctl" } };
    const present = { ...loose(first), notification_settings: settings };
    expect(fieldChanges(present, wanted)).toEqual([
      { path: "notification_settings.receiver", from, to: "opsctl" },
    ]);
  });

  test("a step too many, also one that has the name of another", () => {
    const present = loose(first);
    present.data.push({ ...present.data[0], model: { ...present.data[0].model, expr: "up" } });
    const paths = fieldChanges(present, first).map(({ path }) => path);
    expect(paths).toContain("data.A[3].model.expr");
  });

  // Each in a row of its own: the runner spreads a bare array.
  test.each<[unknown]>([[null], [[]], [{}], ["text"], [{ data: "x", labels: 3 }], [{ data: [null, 3] }]])(
    "everything when the other rule is %p",
    (present) => {
      expect(fieldChanges(present, first).length).toBeGreaterThan(10);
    },
  );
});

import { describe, expect, test } from "bun:test";
import { renderPlan } from "../../lib/alert-rules/render.ts";
import type { Receivers } from "../../lib/alert-rules/rule-document.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import type { RuleDocument } from "../../lib/providers/grafana/document.ts";
import type { Scripted } from "../standins/standin.ts";
import { documents, type LooseRule, loose, UIDS } from "./support/documents.ts";
import { apply, clientOf, openPlatform, plan, pointOf, TOKEN } from "./support/platform.ts";

const RULES = documents(true).length;
/** The failure of a plan. */
async function failureOf(promise: Promise<unknown>): Promise<OpsError> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(OpsError);
  return error;
}

describe("planRules()", () => {
  test("would create everything on an empty platform, and writes nothing", async () => {
    await using open = await openPlatform();
    const planned = await plan(open.client, true);
    expect(planned.map(({ action }) => action)).toEqual(Array(RULES).fill("create"));
    expect(open.platform.writes()).toEqual([]);
  });

  test("finds nothing to do after an apply", async () => {
    await using open = await openPlatform();
    await apply(open.client, true);
    const planned = await plan(open.client, true);
    expect(planned.filter(({ action }) => action !== "none")).toEqual([]);
    expect(renderPlan(planned, [])).toEndWith("Nothing to change.\n");
  });

  test("shows each field, old and new, and nothing that a terminal would act on", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    await apply(client);
    const rule = platform.rules.get("opsctl-root-disk") as LooseRule;
    rule.labels.severity = "info\u001b[2J\u009b2J\u202e";
    rule.data[2].model.expression = "$B < 5";
    delete rule.annotations.summary;

    const text = renderPlan(await plan(client), ["beware"]);

    expect(text).toContain("update     vps-infra / Disco Raiz Baixo (opsctl-root-disk)\n");
    expect(text).toContain('  data.C.model.expression: "$B < 5" -> "$B < 15"\n');
    expect(text).toContain("  annotations.summary: (none) -> ");
    expect(text).toContain("Warning: beware\n1 of 7 rules differ from Grafana.\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test("asks with the token and nothing of provenance", async () => {
    await using open = await openPlatform();
    await plan(open.client);
    const { ledger, routes } = open.platform;
    expect(ledger.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true);
    expect([routes.folder, routes.list, routes.read].map(({ calls }) => calls.length)).toEqual([1, 1, 7]);
  });

  test("needs the folder, and names it", async () => {
    await using open = await openPlatform({ folders: ["another"] });
    const error = await failureOf(plan(open.client));
    expect(error.code).toBe("MONITORING_FOLDER_NOT_FOUND");
    expect(error.message).toContain(UIDS.folder);
    expect((await failureOf(apply(open.client))).code).toBe("MONITORING_FOLDER_NOT_FOUND");
    expect(open.platform.writes()).toEqual([]);
  });

  test("goes on when the token may not read folders; the first write then tells", async () => {
    await using open = await openPlatform({ folders: [] });
    const { platform, client } = open;
    platform.routes.folder.script = () => ({ status: 403, json: { title: "Access denied", message: "no" } });
    const results = await apply(client);
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set(["monitoring_http_400"]));
    expect(results[0]!.message).toContain("folder");
  });

  const failures: [string, Scripted, string][] = [
    ["a refused token", { status: 401, json: { message: "Invalid API key" } }, "MONITORING_HTTP_401"],
    ["missing rights", { status: 403, json: { message: "Access denied" } }, "MONITORING_HTTP_403"],
    ["a fault", { status: 500, json: { message: "boom" } }, "MONITORING_HTTP_500"],
    ["a proxy's fault", { status: 502, text: "<html>bad</html>" }, "MONITORING_HTTP_502"],
    ["too many calls", { status: 429, json: {} }, "MONITORING_HTTP_429"],
    ["a login page", "not_json", "MONITORING_ANSWER_UNREADABLE"],
    ["a redirection", { status: 302, headers: { location: "/login" } }, "MONITORING_HTTP_302"],
    ["a proxy's 404", { status: 404, text: "<html>Not found</html>" }, "MONITORING_ANSWER_UNREADABLE"],
    ["half an answer", "break_body", "MONITORING_CONNECTION_LOST"],
    ["something else than HTTP", "not_http", "MONITORING_CONNECTION_LOST"],
  ];
  test.each(failures)("ends on %s, before anything is written", async (_name, scripted, code) => {
    for (const route of ["list", "read"] as const) {
      await using open = await openPlatform();
      open.platform.routes[route].script = () => scripted;
      const error = await failureOf(apply(open.client));
      expect(error.code).toBe(code);
      expect(`${error.message} ${error.hint}`).not.toMatch(/<html|glsa_canary/);
      expect(open.platform.writes()).toEqual([]);
    }
  });

  test("takes a list that is not found for a wrong address, not for an empty platform", async () => {
    await using open = await openPlatform();
    open.platform.routes.list.script = () => ({ status: 404, json: { message: "Not found" } });
    const error = await failureOf(apply(open.client));
    expect(error.code).toBe("MONITORING_HTTP_404");
    expect(error.hint).toContain("MONITORING_URL");
    expect(open.platform.writes()).toEqual([]);
  });

  test("ends on a platform that never answers or is not there", async () => {
    await using open = await openPlatform();
    open.platform.routes.list.script = () => "hang";
    expect((await failureOf(plan(clientOf(open.platform, TOKEN, 100)))).code).toBe("MONITORING_TIMEOUT");
    await open.platform.stop();
    expect((await failureOf(plan(open.client))).code).toBe("MONITORING_UNREACHABLE");
  });

  test("reads a list of thousands of foreign rules", async () => {
    await using open = await openPlatform();
    const rule = { ...loose(documents()[0]), annotations: { description: "x".repeat(2000) } };
    for (let i = 0; i < 1500; i += 1)
      open.platform.seed({ ...rule, uid: `foreign-${i}`, title: `Foreign ${i}` });
    expect((await plan(open.client)).every(({ action }) => action === "create")).toBe(true);
  });
});

const [FIRST] = documents();
const LOGS = documents().find(({ title }) => title === "SSH Brute Force")!;

/** The changes that a plan names when Grafana has a rule in another form. */
async function changesOf(
  wanted: LooseRule,
  change: (rule: LooseRule) => unknown,
  receivers: Receivers = { main: null, fallback: null },
) {
  await using open = await openPlatform();
  open.platform.points.push(pointOf("opsctl"));
  const present = loose(wanted as RuleDocument);
  change(present);
  open.platform.seed(present, "api");
  open.platform.routes.read.script = () => ({ status: 200, json: present });
  const planned = await plan(open.client, false, receivers);
  return planned.find(({ uid }) => uid === wanted.uid)!.changes;
}

describe("a plan sees no difference", () => {
  const same: [string, (rule: LooseRule) => unknown][] = [
    ["in a duration written differently", (rule) => (rule.for = "300s")],
    ["in a duration of several units", (rule) => (rule.for = "4m60s")],
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
    ["in a receiver where none is wanted", (rule) => (rule.notification_settings = { receiver: "x" })],
  ];
  test.each(same)("%s", async (_name, change) => {
    expect(await changesOf(FIRST!, change)).toEqual([]);
  });

  test("in what a person set beside the wanted receiver", async () => {
    const beside = { receiver: "opsctl", mute_time_intervals: ["noite"] };
    const change = (rule: LooseRule) => (rule.notification_settings = beside);
    expect(await changesOf(FIRST!, change, { main: "opsctl", fallback: null })).toEqual([]);
  });

  test("in the outer kind of query, which the model decides", async () => {
    expect(await changesOf(LOGS, (rule) => (rule.data[0].queryType = ""))).toEqual([]);
  });
});

describe("a plan names", () => {
  const drift: [string, unknown, unknown, (rule: LooseRule) => unknown][] = [
    ["condition", "B", "C", (rule) => (rule.condition = "B")],
    ["for", "1m30s", "5m", (rule) => (rule.for = "90s")],
    ["for", "soon", "5m", (rule) => (rule.for = "soon")],
    ["for", "5m5m", "5m", (rule) => (rule.for = "5m5m")],
    ["noDataState", "NoData", "OK", (rule) => (rule.noDataState = "NoData")],
    ["execErrState", "Alerting", "Error", (rule) => (rule.execErrState = "Alerting")],
    ["isPaused", true, null, (rule) => (rule.isPaused = true)],
    ["keep_firing_for", "5m", null, (rule) => (rule.keep_firing_for = "5m")],
    ["labels.severity", "info", "warning", (rule) => (rule.labels.severity = "info")],
    ["labels.ruleGroup", null, "vps-infra", (rule) => delete rule.labels.ruleGroup],
    ["labels.team", "x", null, (rule) => (rule.labels.team = "x")],
    ["annotations.summary", "x", FIRST!.annotations.summary, (rule) => (rule.annotations.summary = "x")],
    ["data.A.datasourceUid", "other", "prom-1", (rule) => (rule.data[0].datasourceUid = "other")],
    ["data.A.relativeTimeRange.from", 60, 600, (rule) => (rule.data[0].relativeTimeRange.from = 60)],
    ["data.A.model.instant", false, true, (rule) => delete rule.data[0].model.instant],
    ["data.A.model.intervalMs", 5, 1000, (rule) => (rule.data[0].model.intervalMs = 5)],
    ["data.B.model.reducer", "mean", "last", (rule) => (rule.data[1].model.reducer = "mean")],
    ["data.B.model.settings.mode", null, "dropNN", (rule) => delete rule.data[1].model.settings],
    ["data.C.model.expression", "$A > 1", "$B > 1", (rule) => (rule.data[2].model.expression = "$A > 1")],
    ["data.C.model.type", "threshold", "math", (rule) => (rule.data[2].model.type = "threshold")],
  ];
  test.each(drift)("%s: %p -> %p", async (path, from, to, change) => {
    expect(await changesOf(FIRST!, change)).toEqual([{ path, from, to }]);
  });

  test.each([
    [{ receiver: "x", group_wait: "1m" }, "x"],
    [null, null],
  ])("the receiver, where one is wanted: %p", async (settings, from) => {
    const change = (rule: LooseRule) => (rule.notification_settings = settings);
    expect(await changesOf(FIRST!, change, { main: "opsctl", fallback: null })).toEqual([
      { path: "notification_settings.receiver", from, to: "opsctl" },
    ]);
  });

  test("a step too many, also one that has the name of another", async () => {
    const changes = await changesOf(FIRST!, ({ data }) =>
      data.push({ ...data[0], model: { ...data[0].model, expr: "up" } }),
    );
    expect(changes.map(({ path }) => path)).toContain("data.A[3].model.expr");
  });
});

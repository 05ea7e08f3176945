import { describe, expect, test } from "bun:test";
import { applyRules } from "../../lib/alert-rules/apply.ts";
import { renderPlan } from "../../lib/alert-rules/render.ts";
import type { Receivers } from "../../lib/alert-rules/rule-document.ts";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { groupKey } from "../standins/grafana.ts";
import type { Scripted } from "../standins/standin.ts";
import { documents, type LooseRule, loose, UIDS } from "./support/documents.ts";
import { apply, clientOf, failureOf, openPlatform, plan, pointOf, TOKEN, tally } from "./support/platform.ts";

const RULES = documents(true).length;
const LOAD = "opsctl-vps-load";
const [FIRST] = documents();
const MAIN: Receivers = { main: "opsctl-webhook" };
const BOTH: Receivers = { ...MAIN, fallback: "plantão" };

async function openWithPoints(options = {}) {
  const open = await openPlatform(options);
  open.platform.points.push(pointOf("opsctl-webhook"), pointOf("plantão", { type: "email" }));
  return open;
}

/** The receiver of each rule that Grafana keeps. */
function receiversOf(rules: ReadonlyMap<string, LooseRule>): Record<string, string | undefined> {
  return Object.fromEntries([...rules].map(([uid, rule]) => [uid, rule.notification_settings?.receiver]));
}

describe.each([false, true])("applyRules(), on an old Grafana: %p", (isOld) => {
  test("creates every rule with one call, corrects one that differs, and then writes nothing", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    expect(tally(await plan(client, true))).toEqual({ create: RULES });
    expect(platform.writes()).toEqual([]);

    expect(tally(await apply(client, true))).toEqual({ created: RULES });
    expect([...platform.rules.keys()]).toEqual(documents(true).map(({ uid }) => uid));
    (platform.rules.get(LOAD) as LooseRule).for = "7m";
    const planned = await plan(client);
    expect(planned.filter(({ action }) => action !== "none")).toMatchObject([
      { uid: LOAD, action: "update", changes: [{ path: "for", from: "7m", to: "5m" }] },
    ]);
    expect(tally(await apply(client))).toEqual({ unchanged: 6, updated: 1 });
    expect(platform.rules.get(LOAD)?.for).toBe("5m");

    expect(tally(await apply(client, true))).toEqual({ unchanged: RULES });
    expect(renderPlan(await plan(client, true), [], NO_TERMINAL)).toEndWith("Nothing to change.\n");
    expect(platform.writes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...Array(RULES).fill("POST /api/v1/provisioning/alert-rules"),
      `PUT /api/v1/provisioning/alert-rules/${LOAD}`,
    ]);
    expect(platform.ledger.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true);
    expect(platform.unexpected).toEqual([]);
  });

  test("runs twice at once: every rule is there, and both runs succeed", async () => {
    await using open = await openPlatform({ isOld, latencyMs: 5 });
    const { platform, client } = open;
    const ends = await Promise.all([apply(client), apply(clientOf(platform))]);
    expect(tally(ends.flat())).toEqual({ created: 7, unchanged: 7 });
    expect(platform.writes().filter(({ status }) => status === 201)).toHaveLength(7);
  });

  test("leaves alone what is not its own, and names a foreign rule with one of its titles in its group", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    const foreign = ["other-title", "other-folder", "by-hand"];
    platform.seed({ ...loose(documents()[1]), uid: "other-title", title: "Minha regra" });
    platform.seed({ ...loose(documents()[2]), uid: "other-folder", folderUID: "other" });
    platform.seed({ ...loose(FIRST), uid: "by-hand" });
    const shown = () => JSON.stringify(foreign.map((uid) => platform.rules.get(uid)));
    const before = shown();

    const results = await apply(client);

    expect(tally(results)).toEqual({ conflict: 1, created: 6 });
    expect(results[0]).toMatchObject({ uid: LOAD, code: "rule_title_taken" });
    expect(results[0]!.message).toContain("by-hand");
    expect(shown()).toBe(before);
    expect(platform.writes().map(({ method }) => method)).toEqual(Array(6).fill("POST"));
  });

  test("reports a rule that a file provides, and does the others", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    platform.seed({ ...loose(FIRST), for: "1m" }, "file");
    const results = await apply(client);
    expect(tally(results)).toEqual({ created: 6, failed: 1 });
    expect(results[0]).toMatchObject({ uid: LOAD, code: `monitoring_http_${isOld ? 500 : 409}` });
    expect(results[0]!.message).toContain("provenance");
    expect(platform.rules.get(LOAD)?.for).toBe("1m");
  });

  test("sends each rule to its receiver; without one leaves those of the rules alone", async () => {
    await using open = await openWithPoints({ isOld });
    const { platform, client } = open;
    expect(tally(await apply(client, true, BOTH))).toEqual({ created: RULES });
    const expected = alertRules({ withExtras: true }).map(({ uid, watchesWebhook }) => [
      uid,
      watchesWebhook ? "plantão" : "opsctl-webhook",
    ]);
    expect(receiversOf(platform.rules)).toEqual(Object.fromEntries(expected));
    for (const receivers of [BOTH, MAIN, {}])
      expect(tally(await apply(client, true, receivers))).toEqual({ unchanged: RULES });
    platform.rules.clear();
    await apply(client, true, MAIN);
    const unset = Object.values(receiversOf(platform.rules)).filter((name) => name === undefined);
    expect(unset).toHaveLength(5);
  });

  test("changes the receiver alone, and keeps what a person set beside it", async () => {
    await using open = await openWithPoints({ isOld });
    const { platform, client } = open;
    const beside = { group_by: ["alertname"], repeat_interval: "1h", mute_time_intervals: ["noite"] };
    const settings = { receiver: "plantão", ...beside };
    for (const document of documents())
      platform.seed({ ...loose(document), notification_settings: settings }, "api");
    (platform.rules.get(LOAD) as LooseRule).for = "7m";

    expect(tally(await apply(client))).toEqual({ unchanged: 6, updated: 1 });
    expect(platform.rules.get(LOAD)).toMatchObject({ for: "5m", notification_settings: settings });

    const planned = await plan(client, false, MAIN);
    const change = { path: "notification_settings.receiver", from: "plantão", to: "opsctl-webhook" };
    expect(planned.map(({ changes }) => changes)).toEqual(Array(7).fill([change]));
    expect(tally(await apply(client, false, MAIN))).toEqual({ updated: 7 });
    for (const rule of platform.rules.values())
      expect(rule.notification_settings).toEqual({ ...beside, receiver: "opsctl-webhook" });
  });
});

describe("applyRules()", () => {
  test("writes in one provenance mode, takes over what the pages made, and leaves groups alone", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.seed({ ...loose(FIRST), for: "1m" }, "");
    platform.intervals.set(groupKey(UIDS.folder, "vps-infra"), 20);
    expect(tally(await apply(client))).toEqual({ created: 6, updated: 1 });
    expect(platform.writes().filter(({ headers }) => "x-disable-provenance" in headers)).toEqual([]);
    expect([...platform.rules.values()].every(({ provenance }) => provenance === "api")).toBe(true);
    expect(platform.intervals.get(groupKey(UIDS.folder, "vps-infra"))).toBe(20);
  });

  test("believes Grafana's copy, not a lost answer", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.routes.create.next({ accept: "drop" }, { accept: { status: 502, text: "<html>bad</html>" } });
    expect(tally(await apply(client))).toEqual({ created: 7 });
    expect(platform.writes()).toHaveLength(7);
  });

  test("reports a write that came to nothing, never repeats it, and does the others", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    const denied = { accessErrorId: "ACE1", title: "Access denied", message: "You need alert.provisioning" };
    platform.routes.create.next(
      { status: 403, json: denied },
      "drop_unread",
      { status: 502, text: "<html>bad gateway</html>" },
      "not_json",
    );

    const results = await apply(client);

    expect(tally(results)).toEqual({ created: 3, failed: 4 });
    expect(results.slice(0, 4).map(({ code, message }) => [code, message])).toEqual([
      ["monitoring_http_403", "You need alert.provisioning"],
      ["monitoring_connection_lost", null],
      ["monitoring_http_502", null],
      ["monitoring_answer_unreadable", null],
    ]);
    expect(platform.writes()).toHaveLength(7);
  });

  test.each([
    ["noDataState", {}, { noDataState: "NoData" }],
    // A Grafana that is too old to keep a receiver.
    ["notification_settings.receiver", MAIN, { notification_settings: undefined }],
  ] as const)("says so when Grafana keeps another %s", async (path, receivers, kept) => {
    await using open = await openWithPoints();
    const { platform, client } = open;
    const planned = await plan(client, false, receivers);
    platform.routes.read.script = (call) => {
      const rule = platform.rules.get(call.path.split("/").at(-1)!);
      return rule && { status: 200, json: { ...rule, ...kept } };
    };
    const results = await applyRules(client, planned);
    expect(tally(results)).toEqual({ failed: 7 });
    expect(results[0]).toMatchObject({
      code: "rule_stored_differently",
      message: `Grafana stored something else: ${path}`,
    });
  });
});

describe("planRules()", () => {
  test("shows each field, old and new, and nothing that a terminal would act on", async () => {
    await using open = await openWithPoints();
    const { platform, client } = open;
    await apply(client);
    const rule = platform.rules.get("opsctl-root-disk") as LooseRule;
    rule.labels.severity = "info\u001b[2J\u009b2J\u202e";
    rule.data[2].model.expression = "$B < 5";
    delete rule.annotations.summary;

    const text = renderPlan(await plan(client, false, MAIN), ["beware"], NO_TERMINAL);

    expect(text).toContain("update     vps-infra / Disco Raiz Baixo (opsctl-root-disk)\n");
    expect(text).toContain('  data.C.model.expression: "$B < 5" -> "$B < 15"\n');
    expect(text).toContain("  annotations.summary: (none) -> ");
    expect(text).toContain('  notification_settings.receiver: (none) -> "opsctl-webhook"\n');
    expect(text).toContain("Warning: beware\n7 of 7 rules differ from Grafana.\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test.each([
    ["MONITORING_FOLDER_NOT_FOUND", UIDS.folder, { folders: ["another"] }, {}],
    ["MONITORING_RECEIVER_NOT_FOUND", '"ausente"', {}, { main: "ausente" }],
    ["MONITORING_RECEIVER_NOT_FOUND", '"ausente"', {}, { ...MAIN, fallback: "ausente" }],
  ])(
    "names what Grafana does not have, before anything is written: %s, %s",
    async (code, name, options, receivers) => {
      await using open = await openWithPoints(options);
      const error = await failureOf(apply(open.client, true, receivers));
      expect(error.code).toBe(code);
      expect(error.message).toContain(name);
      expect(open.platform.writes()).toEqual([]);
    },
  );

  test.each<[string, Scripted, string]>([
    ["a refused token", { status: 401, json: { message: "Invalid API key" } }, "MONITORING_HTTP_401"],
    ["missing rights", { status: 403, json: { message: "Access denied" } }, "MONITORING_HTTP_403"],
    ["a list that is not found", { status: 404, json: { message: "Not found" } }, "MONITORING_HTTP_404"],
    ["a fault", { status: 500, json: { message: "boom" } }, "MONITORING_HTTP_500"],
    ["a proxy's fault", { status: 502, text: "<html>bad</html>" }, "MONITORING_HTTP_502"],
    ["too many calls", { status: 429, json: {} }, "MONITORING_HTTP_429"],
    ["a login page", "not_json", "MONITORING_ANSWER_UNREADABLE"],
    ["a redirection", { status: 302, headers: { location: "/login" } }, "MONITORING_HTTP_302"],
    ["a proxy's 404", { status: 404, text: "<html>Not found</html>" }, "MONITORING_ANSWER_UNREADABLE"],
    ["half an answer", "break_body", "MONITORING_CONNECTION_LOST"],
    ["something else than HTTP", "not_http", "MONITORING_CONNECTION_LOST"],
    ["no answer", "hang", "MONITORING_TIMEOUT"],
  ])("ends on %s, before anything is written", async (_name, scripted, code) => {
    await using open = await openPlatform();
    open.platform.routes.list.script = () => scripted;
    const error = await failureOf(apply(clientOf(open.platform, TOKEN, scripted === "hang" ? 100 : 5_000)));
    expect(error.code).toBe(code);
    expect(`${error.message} ${error.hint}`).not.toMatch(/<html|glsa_canary/);
    expect(error.hint).toMatch(/MONITORING_(URL|TOKEN)|service account/);
    expect(open.platform.writes()).toEqual([]);
  });

  test("ends where no Grafana is", async () => {
    const open = await openPlatform();
    await open.platform.stop();
    expect((await failureOf(plan(open.client))).code).toBe("MONITORING_UNREACHABLE");
  });

  test("reads a list of thousands of foreign rules", async () => {
    await using open = await openPlatform();
    const rule = { ...loose(FIRST), annotations: { description: "x".repeat(2000) } };
    for (let i = 0; i < 1500; i += 1)
      open.platform.seed({ ...rule, uid: `foreign-${i}`, title: `Foreign ${i}` });
    expect(tally(await plan(open.client))).toEqual({ create: 7 });
  });
});

/** The changes that a plan names when Grafana has the first rule in another form. */
async function changesOf(change: (rule: LooseRule) => unknown, receivers: Receivers = {}) {
  await using open = await openWithPoints();
  const present = loose(FIRST);
  change(present);
  open.platform.routes.list.script = () => ({ status: 200, json: [present] });
  const planned = await plan(open.client, false, receivers);
  return planned.find(({ uid }) => uid === FIRST!.uid)!.changes;
}

describe("a plan", () => {
  const beside = { receiver: "opsctl-webhook", mute_time_intervals: ["noite"] };
  test.each<[string, (rule: LooseRule) => unknown, Receivers?]>([
    ["provenance, owner and time", (rule) => Object.assign(rule, { provenance: "", orgID: 9, updated: "x" })],
    ["a key that is not known yet", (rule) => (rule.guid = "abc")],
    [
      "what Grafana and its pages add to a model",
      ({ data }) => Object.assign(data[0].model, { editorMode: "code" }),
    ],
    ["defaults that are left out", (rule) => delete rule.isPaused],
    [
      "defaults that are shown",
      (rule) => Object.assign(rule, { isPaused: false, keep_firing_for: "0s", record: null }),
    ],
    ["the outer kind of query, which the model decides", ({ data }) => (data[0].queryType = "range")],
    ["a receiver where none is wanted", (rule) => (rule.notification_settings = { receiver: "x" })],
    ["what is beside the wanted receiver", (rule) => (rule.notification_settings = beside), MAIN],
  ])("sees no difference in %s", async (...[, change, receivers]) => {
    expect(await changesOf(change, receivers)).toEqual([]);
  });

  const receiver = "notification_settings.receiver";
  test.each<[string, unknown, unknown, (rule: LooseRule) => unknown, Receivers?]>([
    ["condition", "B", "C", (rule) => (rule.condition = "B")],
    ["for", "1m30s", "5m", (rule) => (rule.for = "1m30s")],
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
    ["data.A.model.instant", null, true, (rule) => delete rule.data[0].model.instant],
    ["data.B.model.reducer", "mean", "last", (rule) => (rule.data[1].model.reducer = "mean")],
    ["data.B.model.settings.mode", null, "dropNN", (rule) => delete rule.data[1].model.settings],
    ["data.C.model.expression", "$A > 1", "$B > 1", (rule) => (rule.data[2].model.expression = "$A > 1")],
    ["data.C.model.type", "threshold", "math", (rule) => (rule.data[2].model.type = "threshold")],
    ["data.D.model.expr", "up", null, ({ data }) => data.push({ refId: "D", model: { expr: "up" } })],
    [
      receiver,
      "x",
      "opsctl-webhook",
      (rule) => (rule.notification_settings = { ...beside, receiver: "x" }),
      MAIN,
    ],
    [receiver, null, "opsctl-webhook", (rule) => (rule.notification_settings = null), MAIN],
  ])("names %s: %p -> %p", async (...[path, from, to, change, receivers]) => {
    expect(await changesOf(change, receivers)).toEqual([{ path, from, to }]);
  });
});

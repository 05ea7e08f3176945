import { describe, expect, test } from "bun:test";
import { groupWarnings, intervalWarning } from "../../lib/alert-rules/group-warnings.ts";
import { renderPlan } from "../../lib/alert-rules/render.ts";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { groupKey } from "../standins/grafana.ts";
import type { Scripted } from "../standins/standin.ts";
import { documents, type LooseRule, loose, UIDS } from "./support/documents.ts";
import { apply, clientOf, openPlatform, plan, TOKEN } from "./support/platform.ts";

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
    expect(text).toContain("Warning: beware\n1 of 7 rules differ from the platform.\n");
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

describe("groupWarnings()", () => {
  const rules = alertRules({ withExtras: true });

  test("says nothing of new groups and of the platform's usual interval", async () => {
    await using open = await openPlatform();
    expect(await groupWarnings(open.client, rules, UIDS.folder)).toEqual([]);
    await apply(open.client, true);
    expect(await groupWarnings(open.client, rules, UIDS.folder)).toEqual([]);
  });

  test("names a group that is evaluated too seldom, and one that it cannot read", async () => {
    await using open = await openPlatform();
    await apply(open.client);
    open.platform.intervals.set(groupKey(UIDS.folder, "vps-infra"), 180);
    expect(await groupWarnings(open.client, rules, UIDS.folder)).toEqual([
      "The group vps-infra is evaluated every 3m, which is longer than the 2m that its quickest rule needs",
    ]);
    open.platform.routes.group.script = () => ({ status: 500, json: {} });
    expect((await groupWarnings(open.client, rules, UIDS.folder))[0]).toContain("monitoring_http_500");
  });

  test.each([
    ["vps-infra", 120, null],
    ["vps-infra", 121, "2m1s"],
    ["vps-security", 300, null],
    ["vps-security", 310, "5m10s"],
    ["vps-unknown", 9999, null],
  ])("intervalWarning(%s, %d) names %p", (group, seconds, named) => {
    const warning = intervalWarning(group, seconds, rules);
    if (named === null) expect(warning).toBeNull();
    else expect(warning).toContain(`every ${named},`);
  });
});

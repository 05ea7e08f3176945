import { describe, expect, test } from "bun:test";
import { groupKey } from "../standins/grafana.ts";
import { documents, type LooseRule, loose, UIDS } from "./support/documents.ts";
import { apply, clientOf, openPlatform, plan, tally } from "./support/platform.ts";

const RULES = documents(true).length;
const LOAD = "opsctl-vps-load";

describe.each([false, true])("applyRules(), on an old platform: %p", (isOld) => {
  test("creates every rule with one call each, and the second time writes nothing", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;

    expect(tally(await apply(client, true))).toEqual({ created: RULES });
    expect(platform.writes().map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(RULES).fill("POST /api/v1/provisioning/alert-rules"),
    );
    expect(platform.writes().every(({ status }) => status === 201)).toBe(true);
    expect([...platform.rules.keys()].sort()).toEqual(
      documents(true)
        .map(({ uid }) => uid)
        .sort(),
    );

    expect(tally(await apply(client, true))).toEqual({ unchanged: RULES });
    expect(platform.writes()).toHaveLength(RULES);
    expect(platform.unexpected).toEqual([]);
  });

  test("writes a rule that differs in one field once, and no other", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    await apply(client);
    const before = platform.writes().length;
    (platform.rules.get(LOAD) as LooseRule).for = "7m";

    const planned = await plan(client);
    expect(planned.filter(({ action }) => action !== "none")).toMatchObject([
      { uid: LOAD, action: "update", changes: [{ path: "for", from: "7m", to: "5m" }] },
    ]);
    expect(platform.writes()).toHaveLength(before);

    expect(tally(await apply(client))).toEqual({ unchanged: 6, updated: 1 });
    expect(
      platform
        .writes()
        .slice(before)
        .map(({ method, path }) => `${method} ${path}`),
    ).toEqual([`PUT /api/v1/provisioning/alert-rules/${LOAD}`]);
    expect(platform.rules.get(LOAD)?.for).toBe("5m");
  });

  test("runs twice at once: every rule is there, and both runs succeed", async () => {
    await using open = await openPlatform({ isOld, latencyMs: 5 });
    const { platform, client } = open;

    const [one, two] = await Promise.all([apply(client), apply(clientOf(platform))]);

    for (const results of [one!, two!]) {
      expect(results.map(({ result }) => result).filter((r) => r !== "created" && r !== "unchanged")).toEqual(
        [],
      );
    }
    expect(tally([...one!, ...two!])).toEqual({ created: 7, unchanged: 7 });
    expect(platform.writes().filter(({ status }) => status === 201)).toHaveLength(7);
    expect(platform.rules.size).toBe(7);
  });

  test("leaves alone what is not its own, and deletes nothing", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    platform.seed({ ...loose(documents()[0]), uid: "by-hand", title: "Minha regra" });
    platform.seed({ ...loose(documents()[1]), uid: "elsewhere", folderUID: "other" });
    const foreign = JSON.stringify([platform.rules.get("by-hand"), platform.rules.get("elsewhere")]);
    await apply(client, true);
    await apply(client);

    expect(JSON.stringify([platform.rules.get("by-hand"), platform.rules.get("elsewhere")])).toBe(foreign);
    expect(platform.rules.size).toBe(21);
    expect(new Set(platform.writes().map(({ method }) => method))).toEqual(new Set(["POST"]));
  });

  test("names a foreign rule with a title of ours in our group, and touches neither", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    platform.seed({ ...loose(documents()[0]), uid: "by-hand" });

    const results = await apply(client);

    expect(tally(results)).toEqual({ conflict: 1, created: 6 });
    expect(results[0]).toMatchObject({ uid: LOAD, code: "rule_title_taken" });
    expect(results[0]!.message).toContain("by-hand");
    expect(platform.rules.has(LOAD)).toBe(false);
    expect(platform.writes()).toHaveLength(6);
  });

  test("goes on where an interrupted run stopped", async () => {
    await using open = await openPlatform({ isOld });
    const { platform, client } = open;
    for (const document of documents().slice(0, 3)) platform.seed(loose(document), "api");

    expect(tally(await apply(client))).toEqual({ created: 4, unchanged: 3 });
    expect(platform.writes()).toHaveLength(4);
  });
});

describe("applyRules()", () => {
  test("writes in one provenance mode, and takes over what the pages made", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.seed({ ...loose(documents()[0]), for: "1m" }, "");

    expect(tally(await apply(client))).toEqual({ created: 6, updated: 1 });

    expect(platform.writes().filter(({ headers }) => "x-disable-provenance" in headers)).toEqual([]);
    expect(new Set([...platform.rules.values()].map(({ provenance }) => provenance))).toEqual(
      new Set(["api"]),
    );
  });

  test.each([false, true])(
    "reports a rule that a file provides, and does the others (old: %p)",
    async (isOld) => {
      await using open = await openPlatform({ isOld });
      const { platform, client } = open;
      platform.seed({ ...loose(documents()[0]), for: "1m" }, "file");

      const results = await apply(client);

      expect(tally(results)).toEqual({ created: 6, failed: 1 });
      expect(results[0]).toMatchObject({ uid: LOAD, code: `monitoring_http_${isOld ? 500 : 409}` });
      expect(results[0]!.message).toContain("provenance");
      expect(platform.rules.get(LOAD)?.for).toBe("1m");
    },
  );

  test("believes Grafana's copy, not a lost answer", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.routes.create.next(
      { accept: "drop" },
      { accept: { status: 502, text: "<html>bad gateway</html>" } },
    );

    expect(tally(await apply(client))).toEqual({ created: 7 });
    expect(platform.writes()).toHaveLength(7);
  });

  test("reports a write that came to nothing, never repeats it, and does the others", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.routes.create.next(
      {
        status: 403,
        json: { accessErrorId: "ACE1", title: "Access denied", message: "You need alert.provisioning" },
      },
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

  test("says so when Grafana keeps something else", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.routes.create.script = () => ({ accept: { status: 201, json: {} } });
    platform.routes.read.script = ({ path }) => {
      const rule = platform.rules.get(path.split("/").at(-1)!);
      return rule && { status: 200, json: { ...rule, noDataState: "NoData" } };
    };

    const results = await apply(client);
    expect(tally(results)).toEqual({ failed: 7 });
    expect(results[0]).toMatchObject({
      code: "rule_stored_differently",
      message: "Grafana stored something else: noDataState",
    });
  });

  test("leaves the interval of a group alone", async () => {
    await using open = await openPlatform();
    const { platform, client } = open;
    platform.intervals.set(groupKey(UIDS.folder, "vps-infra"), 20);
    await apply(client);
    expect(platform.intervals.get(groupKey(UIDS.folder, "vps-infra"))).toBe(20);
    for (const name of ["replaceGroup", "deleteGroup", "deleteRule"] as const)
      expect(platform.routes[name].calls).toEqual([]);
  });
});

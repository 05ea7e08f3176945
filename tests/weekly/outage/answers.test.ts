/** What each answer of the application means for one network: a second chance, none, or nothing at all. */
import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type ApplicationClient, applicationClient } from "../../../lib/providers/application/client.ts";
import { givenUp } from "../../standins/given-up.ts";
import type { Scripted } from "../../standins/standin.ts";
import { seedOwner, writeAnalysis } from "../../support/seed.ts";
import { connectionOf, lackingNetworks, reportStates, seedOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { storedReport } from "../support/stored-report.ts";
import { virtualTime } from "../support/virtual-time.ts";
import { SECRETS, type WeeklyFixture } from "../support/weekly-fixture.ts";

const PATIENT = { patienceMinutes: 15, concurrency: 1 };
const PAGE: Scripted = {
  status: 200,
  headers: { "content-type": "text/html" },
  text: "<html>Sign in</html>",
};
const shared = sharedWeekly();

const MAY_HEAL: [string, Scripted][] = [
  ["APP_TIMEOUT", "hang"],
  ["APP_TIMEOUT", "stall_body"],
  ["APP_UNREACHABLE", "drop"],
  ["APP_UNREACHABLE", "not_http"],
  ["APP_HTTP_408", { status: 408 }],
  ["APP_HTTP_500", { status: 500 }],
  ["APP_HTTP_503", { status: 503, json: {} }],
  ["APP_ANSWER_INVALID", PAGE],
  ["APP_ANSWER_INVALID", { status: 201, text: "<!doctype html>" }],
];

const LASTING: [string, Scripted][] = [
  ["APP_HTTP_302", { status: 302, headers: { location: "/login" } }],
  ["APP_HTTP_400", { status: 400 }],
  ["APP_HTTP_403", { status: 403 }],
  ["APP_HTTP_404", { status: 404 }],
  ["APP_HTTP_401", { status: 401 }],
  ["APP_HTTP_409", { status: 409 }],
];

/** Plays these answers for one connection of the second of three owners, one after the other, then the usual work. */
async function play(weekly: WeeklyFixture, played: (Scripted | "usual")[]) {
  const owners = await seedOwners(weekly, 3);
  owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
  const owner = owners[1]!;
  const { id } = owner.connections[0]!;
  let calls = 0;
  weekly.application.routes.analysis.scriptByBody = (entry) => {
    if (connectionOf(entry) !== id) return undefined;
    const next = played[calls++];
    return next === "usual" ? undefined : next;
  };
  const time = virtualTime();
  const summary = await weekly.run(PATIENT, { ...time, application: givingUp(weekly, id) });
  return { owner, summary, calls: () => calls, time };
}

/** The client of the application, which gives up each call for this connection that is left unanswered. */
function givingUp({ application }: WeeklyFixture, connectionId: string): ApplicationClient {
  const clientOf = (limit: { timeoutsMs?: { analysis: number; editorial: number } }) =>
    applicationClient({
      baseUrl: new URL(application.url),
      triggerSecret: new Secret(SECRETS.TRIGGER_SECRET),
      editorialSecret: new Secret(SECRETS.SOCIAL_EDITORIALS_CRON_SECRET),
      ...limit,
    });
  const usual = clientOf({});
  return {
    ...usual,
    analyzeWeek(week, signal) {
      if (week.connectionId !== connectionId) return usual.analyzeWeek(week, signal);
      return givenUp(application, (limitMs) =>
        clientOf({ timeoutsMs: { analysis: limitMs, editorial: limitMs } }).analyzeWeek(week, signal),
      );
    },
  };
}

describe("one network of one owner, with good calls before and after it", () => {
  test.each(MAY_HEAL)("%s, answer %#: asked once more, and nothing is missing", async (_code, scripted) => {
    const weekly = shared();
    const { summary, calls, time } = await play(weekly, [scripted]);
    expect(summary).toMatchObject({
      status: "success",
      heartbeat: "written",
      reports: { completed: 3, failed: 0 },
      social: { calls: 8, failed: 0 },
      failures: [],
    });
    expect(calls()).toBe(2);
    expect(time.waitsMs).toEqual([]);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 3, lacking: [] });
  });

  test.each(MAY_HEAL)(
    "%s, answer %# three times: unavailable for good, and the run goes on",
    async (code, scripted) => {
      const weekly = shared();
      const { owner, summary, calls } = await play(weekly, [scripted, scripted, scripted]);
      expect(summary).toMatchObject({
        status: "success",
        exitCode: 0,
        // The third call comes when the other network's has shown that the application works; one more shows it again.
        social: { calls: 10, failed: 1 },
        whatsapp: { sent: 3 },
        failures: [{ step: "social", code, tenantId: owner.tenantId }],
      });
      expect(calls()).toBe(3);
      const { payload } = await storedReport(weekly.db.sql, owner);
      expect(payload.channels.instagram).toMatchObject({
        status: "unavailable",
        reason: code,
        metrics: null,
      });
      expect(payload.channels.linkedin).toMatchObject({ status: "available" });
      expect(payload.provenance.sources).toContainEqual(
        expect.objectContaining({ channel: "instagram", status: "failed", code }),
      );
      expect(payload.activationActions.map((action: { code: string }) => action.code)).not.toContain(
        "check_instagram",
      );
    },
  );

  test.each(LASTING)("%s: not asked again, the report goes on", async (code, scripted) => {
    const weekly = shared();
    const { owner, summary, calls } = await play(weekly, [scripted]);
    expect(summary).toMatchObject({
      status: "success",
      social: { calls: 6, failed: 1 },
      failures: [{ step: "social", code, tenantId: owner.tenantId }],
    });
    expect(calls()).toBe(1);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 3, lacking: [code] });
    const attempts = await weekly.db.sql`select attempts from weekly_performance_reports`;
    expect(attempts.map((row) => row.attempts)).toEqual([1, 1, 1]);
  });

  test.each<[string, (weekly: WeeklyFixture) => WeeklyFixture["onAnalyze"]]>([
    ["analysis_missing", () => async () => {}],
    [
      "analysis_malformed",
      (weekly) => async (body) => await writeAnalysis(weekly.db.sql, body, { coverageStatus: "full" }),
    ],
  ])("2xx and %s: not asked again, and no failed network", async (reason, instead) => {
    const weekly = shared();
    const owners = await seedOwners(weekly, 3);
    const { id } = owners[1]!.connections[0]!;
    const usual = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => await (body.connectionId === id ? instead(weekly) : usual)(body);
    const summary = await weekly.run({ ...PATIENT }, virtualTime());
    expect(summary).toMatchObject({ status: "success", social: { calls: 6, failed: 0 }, failures: [] });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 3, lacking: [reason] });
    const { payload } = await storedReport(weekly.db.sql, owners[1]!);
    expect(payload.provenance.sources).toContainEqual(
      expect.objectContaining({ channel: "instagram", status: "missing", code: reason }),
    );
  });

  test("a metric of null in an insight is absence: the analysis is read, and says the same as without it", async () => {
    const weekly = shared();
    const [one, other] = [await seedOwner(weekly.db.sql), await seedOwner(weekly.db.sql)];
    weekly.onAnalyze = async (body) => {
      const insight = { code: "reach_up", text: "O alcance cresceu", value: null, previous: null };
      const insights = [body.userId === one.userId ? { ...insight, metric: null } : insight];
      await writeAnalysis(weekly.db.sql, body, { insights });
    };
    expect(await weekly.run(PATIENT, virtualTime())).toMatchObject({
      status: "success",
      social: { failed: 0 },
    });
    const [withNull, without] = [
      await storedReport(weekly.db.sql, one),
      await storedReport(weekly.db.sql, other),
    ];
    expect(withNull.payload.channels.instagram.insights).toEqual(without.payload.channels.instagram.insights);
    expect(withNull.payload.channels.instagram.insights).toEqual([
      { code: "reach_up", text: "O alcance cresceu", value: null, previous: null },
    ]);
  });
});

describe("a run in which no call has been good yet", () => {
  test.each<[string, Scripted]>([
    ["2xx without an analysis", { status: 200, json: { ok: true } }],
    ["404", { status: 404 }],
  ])("%s to the first owners: they wait for the end, and are not asked again", async (_name, scripted) => {
    const weekly = shared();
    const owners = await seedOwners(weekly, 8);
    owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
    const quiet = new Set(owners.slice(0, 5).flatMap(({ connections }) => connections.map(({ id }) => id)));
    weekly.application.routes.analysis.scriptByBody = (entry) =>
      quiet.has(connectionOf(entry)) ? scripted : undefined;
    const states: unknown[] = [];
    const summary = await weekly.run(PATIENT, {
      ...virtualTime(),
      wrapStore: (store) => ({
        async listNewScopes(...args) {
          states.push(await reportStates(weekly));
          return await store.listNewScopes(...args);
        },
        async persistReport(...args) {
          if (states.length === 0) states.push(await reportStates(weekly));
          return await store.persistReport(...args);
        },
      }),
    });
    expect(summary).toMatchObject({ error: null, reports: { completed: 8 }, social: { calls: 16 } });
    expect(states[0]).toEqual({ "failed social_retry": 5, running: 1 });
  });

  test("ten quiet owners at the beginning stop nobody: the eleventh is asked, and answers", async () => {
    const weekly = shared();
    const owners = await seedOwners(weekly, 25);
    owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
    const quiet = new Set(owners.slice(0, 10).flatMap(({ connections }) => connections.map(({ id }) => id)));
    weekly.application.routes.analysis.scriptByBody = (entry) =>
      quiet.has(connectionOf(entry)) ? { status: 200, json: {} } : undefined;
    const time = virtualTime();
    const summary = await weekly.run(PATIENT, time);
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: 25 },
      social: { calls: 50, failed: 0 },
    });
    expect(time.waitsMs).toEqual([30_000]);
  });

  test("no answer leaves an analysis, for anyone: it breaks off, and leaves no report behind", async () => {
    const weekly = shared();
    await seedOwners(weekly, 40);
    weekly.onAnalyze = async () => {};
    const time = virtualTime();
    const summary = await weekly.run({ ...PATIENT, concurrency: 8 }, time);
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "APP_NOT_ANSWERING" },
      reports: { completed: 0 },
    });
    expect(time.waitsMs).toEqual(Array(30).fill(30_000));
    expect(Object.keys(await reportStates(weekly))).toEqual(["failed social_retry"]);
  });

  test("analyses come back after a minute: owners whose answers are remembered are asked all the same to learn it", async () => {
    const weekly = shared();
    await seedOwners(weekly, 10);
    const time = virtualTime();
    const usual = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      if (time.monotonicMs() >= 60_000) await usual(body);
    };
    const summary = await weekly.run(PATIENT, time);
    expect(summary).toMatchObject({ error: null, reports: { completed: 10 }, social: { calls: 24 } });
    expect(time.waitsMs).toEqual([30_000, 30_000]);
    expect((await lackingNetworks(weekly)).lacking).toHaveLength(18);
  });

  test("a page for everyone, with 200: it breaks off, and leaves no report behind", async () => {
    const weekly = shared();
    await seedOwners(weekly, 12);
    weekly.application.routes.analysis.script = () => PAGE;
    const summary = await weekly.run(PATIENT, virtualTime());
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "APP_NOT_ANSWERING" },
      reports: { completed: 0 },
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 0, lacking: [] });
  });
});

describe("--without-social", () => {
  test("no call, every report without networks, exit 0, no heartbeat", async () => {
    const weekly = shared();
    await seedOwners(weekly, 3);
    const unconnected = await seedOwner(weekly.db.sql, { networks: [] });
    weekly.application.routes.analysis.script = () => ({ status: 503 });
    const summary = await weekly.run({ withoutSocial: true });
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "kept",
      reports: { completed: 4 },
      social: { calls: 0, failed: 0 },
      whatsapp: { sent: 4 },
      email: { sent: 4 },
      failures: [],
    });
    expect(weekly.application.ledger).toHaveLength(0);
    expect((await lackingNetworks(weekly)).lacking).toEqual([
      ...Array(2).fill("not_connected"),
      ...Array(6).fill("social_left_out"),
    ]);
    const { payload } = await storedReport(weekly.db.sql, unconnected);
    expect(payload.activationActions.map((action: { code: string }) => action.code)).toContain(
      "connect_instagram",
    );
  });
});

describe("an owner who becomes eligible while the run is going on", () => {
  test("gets a report in the same run, wherever in the list", async () => {
    const weekly = shared();
    await seedOwners(weekly, 3);
    let late = false;
    const usual = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      if (!late) {
        late = true;
        for (const digit of ["0", "f"])
          await seedOwner(weekly.db.sql, {
            tenantId: `${digit.repeat(8)}-0000-4000-8000-${digit.repeat(12)}`,
          });
      }
      await usual(body);
    };
    const summary = await weekly.run({ concurrency: 1 });
    expect(summary).toMatchObject({ status: "success", reports: { completed: 5 }, whatsapp: { sent: 5 } });
    expect(summary.week).toMatchObject({ owners: 5, reports: { completed: 5, missing: 0 } });
  });
});

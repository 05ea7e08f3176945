/** Connections that fail while the application works: what their answers mean for a report, and that they stop no run. */
import { describe, expect, test } from "bun:test";
import type { AnalysisOutcome } from "../../../lib/providers/application/client.ts";
import { isEndless, playedBy } from "../../cases/answer-case.ts";
import { ANALYSIS_ANSWERS } from "../../cases/application-answers.ts";
import type { Scripted } from "../../standins/standin.ts";
import { seedOwner, seedOwners, writeAnalysis } from "../../support/seed.ts";
import { connectionOf, lackingNetworks } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { storedReport } from "../support/stored-report.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const PATIENT = { patienceMinutes: 15, concurrency: 1 };
const MINUTE = 60_000;
const shared = sharedWeekly();

/** Three owners in the order in which a run takes them. */
async function threeOwners(weekly: WeeklyFixture) {
  const owners = await seedOwners(weekly.db.sql, 3);
  owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
  return owners;
}

/** Answers each call for these connections, and counts them. */
function answering(
  { application }: WeeklyFixture,
  ids: string[],
  answer: (nth: number) => Scripted | undefined,
) {
  const wanted = new Set(ids);
  const seen = { calls: 0 };
  application.routes.analysis.scriptByBody = (entry) => {
    if (!wanted.has(connectionOf(entry))) return undefined;
    seen.calls += 1;
    return answer(seen.calls);
  };
  return seen;
}

const codeOf = ({ becomes }: { becomes: AnalysisOutcome }) =>
  becomes.status === "failed" ? becomes.code : becomes.status;
const ROWS = playedBy("run", ANALYSIS_ANSWERS).map((row) => ({
  ...row,
  answer: row.answer as Scripted,
  code: codeOf(row),
}));
const isMayHeal = ({ becomes }: { becomes: AnalysisOutcome }) =>
  becomes.status === "failed" && becomes.failure === "may_heal";
const MAY_HEAL = ROWS.filter(isMayHeal);
const LASTING = ROWS.filter((row) => !isMayHeal(row));

describe("one network of one owner, with good calls before and after it", () => {
  test.each(MAY_HEAL)(
    "$name once: the network is asked again, and nothing is missing",
    async ({ answer }) => {
      const weekly = shared();
      if (isEndless(answer)) weekly.timeoutsMs = { application: 1_000 };
      const owners = await threeOwners(weekly);
      const seen = answering(weekly, [owners[1]!.connections[0]!.id], (nth) =>
        nth === 1 ? answer : undefined,
      );
      const time = virtualTime();
      const summary = await weekly.run(PATIENT, time);
      expect(summary).toMatchObject({
        status: "success",
        heartbeat: "written",
        reports: { completed: 3, failed: 0 },
        social: { failed: 0 },
        failures: [],
      });
      expect(seen.calls).toBe(2);
      expect(time.waitsMs).toEqual([]);
      expect(await lackingNetworks(weekly)).toEqual({ completed: 3, lacking: [] });
    },
  );

  test.each(MAY_HEAL.filter(({ answer }) => !isEndless(answer)))(
    "$name each time: unavailable for good, and the run goes on",
    async ({ code, answer }) => {
      const weekly = shared();
      const owner = (await threeOwners(weekly))[1]!;
      answering(weekly, [owner.connections[0]!.id], () => answer);
      const summary = await weekly.run(PATIENT, virtualTime());
      expect(summary).toMatchObject({
        status: "success",
        exitCode: 0,
        social: { failed: 1 },
        whatsapp: { sent: 3 },
        failures: [{ step: "social", code, tenantId: owner.tenantId }],
      });
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

  test.each(LASTING)("$name: not asked again, and the report goes on", async ({ code, answer }) => {
    const weekly = shared();
    const owner = (await threeOwners(weekly))[1]!;
    const seen = answering(weekly, [owner.connections[0]!.id], () => answer);
    const summary = await weekly.run(PATIENT, virtualTime());
    expect(summary).toMatchObject({
      status: "success",
      social: { calls: 6, failed: 1 },
      failures: [{ step: "social", code, tenantId: owner.tenantId }],
    });
    expect(seen.calls).toBe(1);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 3, lacking: [code] });
  });

  test.each<[string, string | null]>([
    ["analysis_missing", null],
    ["analysis_malformed", "full"],
  ])("2xx and %s: not asked again, and no failed network", async (reason, coverageStatus) => {
    const weekly = shared();
    const owner = (await threeOwners(weekly))[1]!;
    const usual = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      if (body.connectionId !== owner.connections[0]!.id) await usual(body);
      else if (coverageStatus !== null) await writeAnalysis(weekly.db.sql, body, { coverageStatus });
    };
    const summary = await weekly.run(PATIENT, virtualTime());
    expect(summary).toMatchObject({ status: "success", social: { calls: 6, failed: 0 }, failures: [] });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 3, lacking: [reason] });
    const { payload } = await storedReport(weekly.db.sql, owner);
    expect(payload.provenance.sources).toContainEqual(
      expect.objectContaining({ channel: "instagram", status: "missing", code: reason }),
    );
  });

  test("a metric of null in an insight is absence: the analysis says the same as without it", async () => {
    const weekly = shared();
    const [one, other] = [await seedOwner(weekly.db.sql), await seedOwner(weekly.db.sql)];
    const insight = { code: "reach_up", text: "O alcance cresceu", value: null, previous: null };
    weekly.onAnalyze = async (body) => {
      const insights = [body.userId === one.userId ? { ...insight, metric: null } : insight];
      await writeAnalysis(weekly.db.sql, body, { insights });
    };
    expect(await weekly.run(PATIENT, virtualTime())).toMatchObject({ status: "success" });
    for (const owner of [one, other]) {
      const { payload } = await storedReport(weekly.db.sql, owner);
      expect(payload.channels.instagram.insights).toEqual([insight]);
    }
  });
});

describe("connections of many owners that always fail", () => {
  test("25 of 75 owners whose only connection answers 500: no outage, everybody gets a report in this run", async () => {
    const weekly = shared();
    const owners = [];
    for (let i = 0; i < 75; i += 1) owners.push(await seedOwner(weekly.db.sql, { networks: ["instagram"] }));
    const broken = owners.filter((_, i) => i % 3 === 0).map(({ connections }) => connections[0]!.id);
    answering(weekly, broken, () => ({ status: 500 }));
    const summary = await weekly.run({ ...PATIENT, concurrency: 2 }, virtualTime());
    expect(summary).toMatchObject({
      exitCode: 1,
      error: null,
      reports: { completed: 75, failed: 0 },
      social: { failed: 25 },
    });
    expect(summary.failures[0]).toEqual({ step: "social", code: "SOCIAL_DEGRADED" });
    expect(weekly.gateway.accepted).toHaveLength(75);
  });

  test("one network that fails for everybody: its owners are asked again, and nobody waits long for it", async () => {
    const weekly = shared();
    const owners = await seedOwners(weekly.db.sql, 30);
    const linkedin = owners.map(({ connections }) => connections[1]!.id);
    const seen = answering(weekly, linkedin, () => ({ status: 502 }));
    const time = virtualTime();
    const summary = await weekly.run({ ...PATIENT, concurrency: 8 }, time);
    expect(summary).toMatchObject({ error: null, reports: { completed: 30 }, social: { failed: 30 } });
    expect(seen.calls).toBeGreaterThanOrEqual(2 * 30);
    expect(seen.calls).toBeLessThanOrEqual(3 * 30 + 8);
    expect(time.monotonicMs()).toBeLessThanOrEqual(2 * MINUTE);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 30, lacking: Array(30).fill("APP_HTTP_502") });
  });

  test("ten owners without an analysis at the beginning stop nobody: the eleventh is asked, and answers", async () => {
    const weekly = shared();
    const owners = await seedOwners(weekly.db.sql, 25);
    owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
    const quiet = owners.slice(0, 10).flatMap(({ connections }) => connections.map(({ id }) => id));
    answering(weekly, quiet, () => ({ status: 200, json: {} }));
    const time = virtualTime();
    const summary = await weekly.run(PATIENT, time);
    expect(summary).toMatchObject({ status: "success", reports: { completed: 25 }, social: { failed: 0 } });
    expect(time.monotonicMs()).toBeLessThanOrEqual(MINUTE);
  });
});

test("--without-social calls nobody, and distinguishes a network that was left out from one that is not connected", async () => {
  const weekly = shared();
  await seedOwners(weekly.db.sql, 3);
  const unconnected = await seedOwner(weekly.db.sql, { networks: [] });
  const summary = await weekly.run({ withoutSocial: true });
  expect(summary).toMatchObject({
    status: "success",
    heartbeat: "kept",
    reports: { completed: 4 },
    social: { calls: 0, failed: 0 },
    email: { sent: 4 },
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

test("an owner who becomes eligible while the run goes on gets a report in it, wherever in the list", async () => {
  const weekly = shared();
  await seedOwners(weekly.db.sql, 3);
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

/** Many owners and an application that goes away among them. */
import { describe, expect, test } from "bun:test";
import { isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { lackingNetworks, outage, reportStates, seedManyOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { recordingLog } from "../support/weekly-fixture.ts";

const OWNERS = 70;
/** Fewer than a run has otherwise, so that fewer owners are enough to trip the breaker and go on afterwards. */
const CONCURRENCY = 4;
/** A quarter of the calls: more are left than may be made in vain. */
const FIRST_IN_VAIN = OWNERS / 2;
/** Twenty trip the breaker, three more are on their way; each of three late good ones begins the count anew. */
const MOST_IN_VAIN = 20 + (CONCURRENCY - 1) * (1 + 19);
const PATIENT = { patienceMinutes: 15, concurrency: CONCURRENCY };
const shared = sharedWeekly();

describe("runWeekly() with many owners, when the application goes away among them", () => {
  test.each([
    [3, 1],
    [30, 1],
    [899, 30],
  ])("for %i seconds: every report has every network, %i probes are made", async (seconds, probes) => {
    const weekly = shared();
    await seedManyOwners(weekly, OWNERS);
    const away = outage(weekly, { fromCall: FIRST_IN_VAIN, seconds });
    const summary = await weekly.run(PATIENT, away.time);
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "written",
      reports: { scopes: OWNERS, completed: OWNERS, failed: 0 },
      social: { failed: 0 },
      failures: [],
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: OWNERS, lacking: [] });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([OWNERS, OWNERS]);
    // Each probe but the last asks in vain for two networks.
    expect(away.callsInVain).toBeLessThanOrEqual(MOST_IN_VAIN + 2 * (probes - 1));
    expect(away.time.waitsMs).toEqual(Array(probes).fill(30_000));
    // The owners that were put back are asked anew, with all their connections.
    expect(summary.social.calls).toBe(weekly.application.routes.analysis.calls.length);
    expect(summary.social.calls - 2 * OWNERS).toBeLessThanOrEqual(away.callsInVain + 20);
  });

  test("one owner at a time: twenty calls in vain, then two for each probe, and each is made up for", async () => {
    const weekly = shared();
    await seedManyOwners(weekly, 40);
    const away = outage(weekly, { fromCall: 41, seconds: 100 });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, away.time);
    expect(away.callsInVain).toBe(20 + 2 * 3);
    expect(summary).toMatchObject({ status: "success", social: { calls: 80 + 26, failed: 0 } });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 40, lacking: [] });
  });

  test("for longer than its patience: it breaks off, leaves no report without a network, and the next run makes them", async () => {
    const weekly = shared();
    plantHeartbeat(weekly);
    await seedManyOwners(weekly, OWNERS);
    const log = recordingLog();
    const away = outage(weekly, { fromCall: FIRST_IN_VAIN, seconds: 3_600 });
    const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
    const summary = await weekly.run({ ...PATIENT, editorials }, { ...away.time, log });
    const { completed } = summary.reports;
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      error: { code: "APP_NOT_ANSWERING" },
      social: { failed: 0 },
      whatsapp: { sent: completed },
      email: { sent: completed },
      editorials: { status: "skipped", code: "APP_NOT_ANSWERING", calls: 0 },
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
    expect(away.time.waitsMs).toEqual(Array(30).fill(30_000));
    expect(await lackingNetworks(weekly)).toEqual({ completed, lacking: [] });
    const states = await reportStates(weekly);
    expect(states).toEqual({ completed, "failed social_retry": summary.reports.failed });
    // Those in flight when it broke, and one more owner for each probe.
    expect(summary.reports.failed).toBeGreaterThanOrEqual(10 + 30);
    expect(summary.reports.failed).toBeLessThanOrEqual(20 + CONCURRENCY + 30);
    expect(log.lines).toContainEqual({
      level: "warn",
      msg: "The application does not answer: the run waits, and asks it again every 30 seconds",
      fields: expect.objectContaining({ waitsFor: "application", until: "2026-11-23T11:15:00Z" }),
    });

    weekly.application.routes.analysis.script = null;
    const next = await weekly.run();
    expect(next).toMatchObject({
      status: "success",
      reports: { completed: OWNERS - completed, reused: completed },
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: OWNERS, lacking: [] });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([OWNERS, OWNERS]);
  });

  test("without patience: it breaks off at once, after twenty calls and those on their way", async () => {
    const weekly = shared();
    await seedManyOwners(weekly, 40);
    const away = outage(weekly, { fromCall: 40, seconds: 3_600 });
    const summary = await weekly.run({ ...PATIENT, patienceMinutes: 0 }, away.time);
    expect(summary).toMatchObject({ exitCode: 1, error: { code: "APP_NOT_ANSWERING" } });
    expect(away.time.waitsMs).toEqual([]);
    expect(away.callsInVain).toBeLessThanOrEqual(MOST_IN_VAIN);
    expect(await lackingNetworks(weekly)).toMatchObject({ lacking: [] });
  });
});

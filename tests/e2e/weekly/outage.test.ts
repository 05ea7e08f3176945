/** An application that is away, on the real program: what it says while it waits, a kill meanwhile, the run after. */
import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { lackingNetworks, reportStates } from "../../weekly/support/outage.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { logLines, type Running } from "../support/opsctl.ts";

const OWNERS = 12;

async function awayFixture(): Promise<Fixture> {
  const fixture = await openFixture({ editorials: true });
  for (let i = 0; i < OWNERS; i += 1) await seedOwner(fixture.db.sql);
  fixture.application.routes.analysis.script = () => ({ status: 503 });
  return fixture;
}

/** Resolves with the log when the process says that it waits, and rejects when it ends before that. */
async function waiting({ child, ended }: Running): Promise<string> {
  let log = "";
  const logged = new Promise<string>((resolve) => {
    child.stderr!.on("data", (part) => {
      log += part;
      if (/APP_NOT_ANSWERING.*\n/.test(log)) resolve(log);
    });
  });
  const early = ended.then(({ stdout, stderr }) => {
    throw new Error(`The run ended before it waited: ${stdout}${stderr}`);
  });
  early.catch(() => {});
  return await Promise.race([logged, early]);
}

describe.concurrent("opsctl weekly while the application is unavailable", () => {
  test("says what it waits for and until when; killed while it waits it blocks nothing, and the next run makes all reports", async () => {
    await using fixture = await awayFixture();
    const running = await fixture.start(["weekly", "--json"]);
    const line = logLines(await waiting(running)).find(({ code }) => code === "APP_NOT_ANSWERING");
    expect(line).toMatchObject({ level: "warn", waitsFor: "application", afterwards: "break off" });
    // Fifteen minutes after the breaker tripped, a moment after the start.
    expect(String(line!.until)).toMatch(/^2026-11-23T11:1[56]:/);
    // Those that were in flight are put back.
    await until("no running report", async () => !("running" in (await reportStates(fixture))));
    running.kill("SIGKILL");
    expect((await running.ended).signal).toBe("SIGKILL");

    const states = await reportStates(fixture);
    expect(Object.keys(states)).toEqual(["failed social_retry"]);
    expect([fixture.gateway.ledger, fixture.email.ledger]).toEqual([[], []]);

    fixture.application.routes.analysis.script = null;
    const next = await fixture.weekly(["--json"]);
    expect(next.exitCode, next.stdout).toBe(0);
    expect(next.summary).toMatchObject({ reports: { completed: OWNERS, reused: 0 }, heartbeat: "written" });
    expect(await lackingNetworks(fixture)).toEqual({ completed: OWNERS, lacking: [] });
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([OWNERS, OWNERS]);
  });

  test("breaks off without patience, and resumes when started again", async () => {
    await using fixture = await awayFixture();
    const ended = await fixture.weekly(["--json", "--patience", "0"]);
    expect(ended.exitCode, ended.stdout).toBe(1);
    expect(ended.summary).toMatchObject({
      status: "failed",
      error: { code: "APP_NOT_ANSWERING" },
      reports: { completed: 0 },
      editorials: { status: "skipped", code: "APP_NOT_ANSWERING" },
      heartbeat: "kept",
    });
    expect(await lackingNetworks(fixture)).toEqual({ completed: 0, lacking: [] });
    fixture.application.routes.analysis.script = null;
    expect((await fixture.weekly(["--json"])).exitCode).toBe(0);
  });

  test("--without-social reports without it, and keeps the heartbeat", async () => {
    await using fixture = await awayFixture();
    const ended = await fixture.weekly(["--json", "--without-social"]);
    expect(ended.exitCode, ended.stdout).toBe(0);
    expect(ended.summary).toMatchObject({
      status: "success",
      reports: { completed: OWNERS },
      social: { calls: 0, failed: 0 },
      heartbeat: "kept",
    });
    expect(fixture.heartbeat.isOld()).toBe(true);
    expect((await lackingNetworks(fixture)).lacking).toEqual(Array(2 * OWNERS).fill("social_left_out"));
    expect(fixture.application.routes.analysis.calls).toHaveLength(0);
  });

  test("a person reads that the run broke off, and what to do", async () => {
    await using fixture = await awayFixture();
    const { stdout: shown } = await fixture.weekly(["--patience", "0"]);
    // Hints are wrapped.
    const stdout = shown.replaceAll(/\s+/g, " ");
    expect(stdout).toContain("APP_NOT_ANSWERING: Stopped the run:");
    expect(stdout).toContain("--without-social makes the reports without networks, for good");
    expect(stdout).toContain("report: social_retry");
    expect(stdout).toContain(
      "What failed can be tried again until 2026-11-24 00:00:00 (São Paulo): opsctl weekly",
    );
  });
});

import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { closedBarrier } from "../support/barrier.ts";
import { openFixture } from "../support/fixture.ts";

describe("a database that cuts every connection of the run", () => {
  test("a run whose connections are all cut makes and sends every report once when new ones are taken", async () => {
    await using fixture = await openFixture({ editorials: true });
    const { sql } = fixture.db;
    for (let i = 0; i < 3; i += 1) await seedOwner(sql);
    const analyze = fixture.onAnalyze;
    const barrier = closedBarrier(3);
    fixture.onAnalyze = (body) => barrier.pass().then(() => analyze(body));

    const running = await fixture.start(["weekly", "--json"]);
    await barrier.reachedBy(running);
    const cut = await sql`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and application_name like 'opsctl%'`;
    barrier.open();
    const { exitCode, stdout, summary } = await running.ended;

    expect(cut.length).toBeGreaterThan(0);
    expect(exitCode, stdout).toBe(0);
    expect(summary).toMatchObject({ reports: { completed: 3 }, heartbeat: "written", failures: [] });
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([3, 3]);
  });
});

import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { openFixture } from "../support/fixture.ts";

describe("a signal while the database does not answer", () => {
  test("ends opsctl weekly by itself: one line of JSON, exit 1, no heartbeat, and nothing sent twice", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    await fixture.db.sql.begin(async (tx) => {
      await tx`lock table timeline_entries in access exclusive mode`;
      const running = await fixture.start(["weekly", "--json"]);
      const waiting = () => fixture.db.sql<{ pid: number }[]>`
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'opsctl weekly' and wait_event_type = 'Lock'`;
      await until("the run that waits for the lock", async () => (await waiting()).length > 0);
      running.kill("SIGTERM");
      const ended = await running.ended;

      expect({ exitCode: ended.exitCode, signal: ended.signal }).toEqual({ exitCode: 1, signal: null });
      expect(ended.summary).toMatchObject({
        status: "failed",
        error: { code: "RUN_INTERRUPTED" },
        heartbeat: "kept",
        whatsapp: { partial: 1 },
      });
      expect(fixture.heartbeat.isOld()).toBe(true);
      // The server has not noticed that the client is gone; between two tries for a lock it sleeps.
      await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'opsctl weekly'`;
    });
    await fixture.db
      .sql`update weekly_performance_deliveries set lease_expires_at = weekly_performance_now()`;
    const next = await fixture.weekly(["--json"]);
    expect(next.summary).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, email: { sent: 1 } });
    expect(fixture.gateway.accepted).toHaveLength(1);
  });
});

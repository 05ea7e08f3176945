import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { closedBarrier } from "../support/barrier.ts";
import { openFixture } from "../support/fixture.ts";
import { childrenOf, listeningSockets } from "../support/process-facts.ts";

describe("opsctl weekly as a process", () => {
  test("listens nowhere, starts nothing, and ends by itself", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const analyze = fixture.onAnalyze;
    const barrier = closedBarrier();
    fixture.onAnalyze = (body) => barrier.pass().then(() => analyze(body));

    const running = await fixture.start(["weekly", "--json"]);
    await barrier.reachedBy(running);
    const midway = { listening: listeningSockets(running.pid), children: childrenOf(running.pid) };
    barrier.open();
    const { exitCode, summary } = await running.ended;

    expect(midway).toEqual({ listening: 0, children: [] });
    expect({ exitCode, status: summary.status }).toEqual({ exitCode: 0, status: "success" });
    const sessions = await fixture.db.sql`
      select pid from pg_stat_activity
      where datname = current_database() and application_name like 'opsctl%'`;
    expect([...sessions]).toEqual([]);
  });
});

test("listeningSockets() sees a process that listens", () => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const listening = listeningSockets(process.pid);
  server.stop(true);
  expect(listening).toBeGreaterThan(listeningSockets(process.pid));
});

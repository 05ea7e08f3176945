import { describe, expect, test } from "bun:test";
import type { LedgerEntry } from "../../standins/standin.ts";
import { seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";

const OWNERS = 4;

describe.concurrent("providers that accept and then drop the connection", () => {
  test.each(["drop", "break_body"] as const)("have seen each send once (%s)", async (fault) => {
    await using fixture = await openFixture();
    const { application, gateway, email } = fixture;
    for (let i = 0; i < OWNERS; i += 1) await seedOwner(fixture.db.sql, { networks: ["instagram"] });
    // The first owner's calls are answered as usual, so that the runtime has connections it could use again.
    const dropped = [application.routes.analysis, gateway.routes.send, email.routes.send];
    for (const route of dropped) {
      route.script = (entry: LedgerEntry) => (entry === route.calls[0] ? undefined : { accept: fault });
    }

    const args = ["--json", "--concurrency", "1", "--patience", "0"];
    const { exitCode, summary } = await fixture.weekly(args);

    expect(exitCode).toBe(1);
    expect(summary).toMatchObject({
      reports: { completed: OWNERS },
      whatsapp: { sent: 1, unknown: OWNERS - 1 },
      email: { sent: 1, unknown: OWNERS - 1 },
    });
    const bodies = dropped.map(({ calls }) => calls.map(({ rawBody }) => rawBody));
    // An analysis may be asked for again in the second pass; the peer has seen no call that opsctl did not make.
    const { calls } = summary.social as { calls: number };
    expect(bodies.map((sent) => [sent.length, new Set(sent).size])).toEqual([
      [calls, OWNERS],
      [OWNERS, OWNERS],
      [OWNERS, OWNERS],
    ]);
    expect([gateway.accepted.length, email.accepted.length]).toEqual([OWNERS, OWNERS]);

    for (const route of dropped) route.script = null;
    const next = await fixture.weekly(["--json"]);
    expect(next.exitCode).toBe(1);
    expect(next.summary).toMatchObject({
      whatsapp: { sent: 0, reused: 1, unknown: OWNERS - 1 },
      email: { sent: 0, reused: 1, unknown: OWNERS - 1 },
      heartbeat: "kept",
    });
    expect([gateway.accepted.length, email.accepted.length]).toEqual([OWNERS, OWNERS]);
    const states = await fixture.db.sql`select status from weekly_performance_deliveries`;
    expect(states.filter(({ status }) => status === "unknown")).toHaveLength(2 * (OWNERS - 1));
  });
});

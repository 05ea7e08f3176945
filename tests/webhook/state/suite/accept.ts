/** What the state does when it accepts alerts, within its limits. */
import { expect, test } from "bun:test";
import type { OutboxLimits } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  DEAD,
  DELIVERED,
  dueIds,
  MINUTE_MS,
  type OpenStateFixture,
  onlyDue,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

/** Registers the tests of rows and messages. */
export function acceptTests(fixture: () => StateFixture): void {
  test("keeps each alert as it came, whatever its texts and labels are called", async () => {
    const { state } = fixture();
    const labels: Record<string, string> = JSON.parse(
      '{"__proto__":"p","constructor":"c","toString":"t","a\\u0000b":"nul"}',
    );
    const alert = sampleAlert({ labels, description: 'ação 🚨 "\\ \u0000 \u2028 \ud800', name: "x'; drop" });
    const accepted = await acceptOne(state, alert);
    expect(accepted.alert).toEqual(alert);
    const row = await onlyDue(state);
    expect(JSON.stringify(row.alert)).toBe(JSON.stringify(alert));
    const untried = { attempts: 0, waitedMs: 0, claimedAtMs: null, issueUrl: null };
    expect(row).toMatchObject({ id: accepted.messageRow, kind: "message", ...untried });
  });

  test.each(["nul\u0000", "é".repeat(100_000), ""])(
    "takes a fingerprint and a name that a column or an index could not hold: %j",
    async (fingerprint) => {
      const { state } = fixture();
      const { messageRow } = await acceptOne(state, sampleAlert({ fingerprint, name: fingerprint }));
      await state.settle(messageRow, DEAD);
      expect(await state.listDead()).toMatchObject([{ fingerprint, alertname: fingerprint }]);
      expect((await state.latest(fingerprint)).message).toMatchObject({ status: "dead", code: "refused" });
      expect(await state.dropDead(null)).toBe(1);
    },
  );

  test("takes a batch of thousands of requests, or of many megabytes, and answers each in its place", async () => {
    const { state } = fixture();
    const large = Array.from({ length: 12 }, (_, at) => [
      resolvedAlert({ fingerprint: `large ${at}`, description: "x".repeat(1_000_000) }),
    ]);
    const small = Array.from({ length: 1_001 }, (_, at) => [resolvedAlert({ fingerprint: `small ${at}` })]);
    for (const requests of [large, small]) {
      const outcomes = await state.accept(requests);
      expect(outcomes).toMatchObject(requests.map(([alert]) => ({ accepted: [{ alert }] })));
    }
    expect((await state.stats()).message.queued).toBe(1_013);
  });

  test("a request that the store refuses loses only itself, however often it comes", async () => {
    const { state, refuse } = fixture();
    await refuse("poison");
    const REFUSED = { refused: "state_unavailable" } as const;
    const request = (...fingerprints: string[]) =>
      fingerprints.map((fingerprint) => sampleAlert({ fingerprint }));
    const outcomes = await state.accept([request("a"), request("b", "poison"), request("b")]);
    const first = { accepted: [{ issue: { status: "first" } }] };
    expect(outcomes).toMatchObject([first, REFUSED, first]);
    expect(await state.accept([request("poison"), request("c")])).toMatchObject([REFUSED, first]);
    expect(await state.stats()).toMatchObject({ message: { queued: 3 }, issue: { queued: 3 } });
  });
}

/** Registers the tests of the limits of rows and bytes. */
export function limitTests(open: OpenStateFixture): void {
  const within = (limits: OutboxLimits, use: (fixture: StateFixture) => Promise<void>) => async () => {
    const fixture = await open({ limits });
    await use(fixture).finally(() => fixture.close());
  };
  const FULL = { refused: "outbox_full" } as const;
  const warning = resolvedAlert({ severity: "warning" });
  const critical = resolvedAlert({ severity: " CRITICAL", fingerprint: "critical" });
  const size = Buffer.byteLength(JSON.stringify(critical));

  test(
    "refuse what is beyond the rows until some are delivered, each request as a whole",
    within({ rows: 4, bytes: 1_000_000 }, async ({ state, setClock }) => {
      const requests = [["a", "b", "c"], ["d", "e"], ["f"]].map((names) =>
        names.map((fingerprint) => resolvedAlert({ fingerprint })),
      );
      expect(await state.accept(requests)).toMatchObject([
        { accepted: [{}, {}, {}] },
        FULL,
        { accepted: [{}] },
      ]);
      expect(await state.accept([[warning]])).toEqual([FULL]);
      expect((await state.stats()).message.queued).toBe(4);
      for (const id of await dueIds(state, "message")) await state.settle(id, DELIVERED);
      await setClock(START_MS + MINUTE_MS);
      await acceptOne(state, warning);
    }),
  );

  test(
    "count bytes, and know within seconds what another process left or took",
    within({ rows: 100, bytes: Math.floor(2.5 * size) }, async ({ state, setClock, another }) => {
      const other = await another();
      const [row] = await acceptRows(other, "a", "b");
      await setClock(START_MS + MINUTE_MS);
      expect(await state.accept([[warning]])).toEqual([FULL]);
      await other.settle(row, DEAD);
      await setClock(START_MS + 2 * MINUTE_MS);
      await acceptOne(state, warning);
    }),
  );

  test.each([
    ["rows", { rows: 10, bytes: 1_000 * size }],
    ["bytes", { rows: 1_000, bytes: 10 * size }],
  ] as const)("keep the last tenth of the %s for requests with a critical alert", async (_, limits) => {
    await within(limits, async ({ state }) => {
      const nine = Array.from({ length: 9 }, () => ({ ...critical, severity: "warning9" }));
      const outcomes = await state.accept([nine, [warning], [critical]]);
      expect(outcomes).toMatchObject([{ accepted: nine.map(() => ({})) }, FULL, { accepted: [{}] }]);
      expect(await state.accept([[critical]])).toEqual([FULL]);
    })();
  });

  test.each([0, 1])(
    "give the last tenth to all of a request with a critical alert in place %d",
    async (place) => {
      await within({ rows: 10, bytes: 1_000_000 }, async ({ state }) => {
        await acceptAll(state, ...Array.from({ length: 8 }, () => warning));
        const request = [warning, warning];
        expect(await state.accept([request])).toEqual([FULL]);
        request[place] = critical;
        expect(await state.accept([request])).toMatchObject([{ accepted: [{}, {}] }]);
      })();
    },
  );

  test(
    "count nothing twice",
    within({ rows: 6, bytes: 1_000_000 }, async ({ state, another }) => {
      const firing = ["a", "b", "c"].map((fingerprint) => [
        sampleAlert({ fingerprint, severity: "critical" }),
      ]);
      expect(await state.accept(firing)).toMatchObject(firing.map(() => ({ accepted: [{}] })));
      expect((await (await another()).stats()).issue.queued).toBe(3);
    }),
  );
}

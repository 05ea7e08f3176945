import { expect, test } from "bun:test";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DELIVERED,
  issueRowOf,
  type OpenStateFixture,
  type StateFixture,
} from "../../support/state-fixture.ts";

/** The suite's tests of what must not be mistaken: a row that ended, or a request with a critical alert. */
export function endTests(open: OpenStateFixture): void {
  const opened = async (
    options: Parameters<OpenStateFixture>[0],
    use: (f: StateFixture) => Promise<void>,
  ) => {
    const fixture = await open(options);
    try {
      await use(fixture);
    } finally {
      await fixture.close();
    }
  };

  test("an issue in doubt gets no comment: it may not be there", async () => {
    await opened({ comments: true }, async ({ state }) => {
      const [firing] = await acceptAll(state, sampleAlert());
      await state.settle(issueRowOf(firing!), { status: "in_doubt", code: "delivery_in_doubt" });
      await acceptAll(state, resolvedAlert());
      expect((await state.stats()).comment).toMatchObject({ queued: 0, dead: 0 });
    });
  });

  test.each([0, 1])(
    "a critical alert in place %d of a request gives all of it the last tenth",
    async (place) => {
      await opened({ limits: { rows: 10, bytes: 1_000_000 } }, async ({ state }) => {
        await acceptAll(state, ...Array.from({ length: 8 }, () => resolvedAlert({ severity: "warning" })));
        const request = [resolvedAlert({ severity: "warning" }), resolvedAlert({ severity: "warning" })];
        expect(await state.accept([request])).toEqual([{ refused: "outbox_full" }]);
        request[place] = resolvedAlert({ severity: "critical" });
        expect(await state.accept([request])).toMatchObject([{ accepted: [{}, {}] }]);
      });
    },
  );

  test("dropDead() and dropQueued() leave a delivered row, by its number, too", async () => {
    await opened({}, async ({ state }) => {
      const [accepted] = await acceptAll(state, resolvedAlert());
      await state.settle(accepted!.messageRow, DELIVERED);
      expect(await state.dropDead([accepted!.messageRow])).toBe(0);
      expect(await state.dropQueued([accepted!.messageRow])).toBe(0);
      const { message } = await state.latest(accepted!.alert.fingerprint);
      expect(message).toMatchObject({ status: "delivered" });
    });
  });
}

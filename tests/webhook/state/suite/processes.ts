/** What two processes on one store do at once. */
import { beforeEach, expect, test } from "bun:test";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  acceptRows,
  DELIVERED,
  dueIds,
  SECOND_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

const ROUNDS = 10;

/** Registers these tests. */
export function processTests(fixture: () => StateFixture): void {
  let states: [State, State];
  beforeEach(async () => {
    states = [fixture().state, await fixture().another()];
  });

  test("processes that accept the same alerts in any order claim each issue once, and keep every message", async () => {
    const alerts = Array.from({ length: 20 }, (_, at) => sampleAlert({ fingerprint: `f${at}` }));
    const batches = Array.from({ length: 8 }, (_, at) => {
      const ordered = at % 4 < 2 ? alerts : alerts.toReversed();
      return states[at % 2]!.accept([ordered, ordered]);
    });
    const outcomes = (await Promise.all(batches)).flat();
    expect(outcomes.filter((outcome) => "refused" in outcome)).toEqual([]);
    expect(await dueIds(states[0], "message")).toHaveLength(20);
    expect(await dueIds(states[1], "issue")).toHaveLength(20);
    expect(await states[0].stats()).toMatchObject({ message: { queued: 320 }, issue: { queued: 20 } });
  });

  test("lose no turn while one settles what the other adds to", async () => {
    const [first, second] = states;
    for (let round = 0; round < ROUNDS; round += 1) {
      const [row] = await acceptRows(first, "f1");
      const [next] = await Promise.all([acceptOne(second, resolvedAlert()), first.settle(row, DELIVERED)]);
      expect(await dueIds(first, "message")).toEqual([next.messageRow]);
      await second.settle(next.messageRow, DELIVERED);
    }
    expect(await first.stats()).toMatchObject({ message: { queued: 0 }, queuedBytes: 0 });
  });

  test("begin one attempt of a row", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [row] = await acceptRows(states[0], `f${round}`);
      const begun = await Promise.all(states.map((state, at) => state.begin(row, { text: `${at}` })));
      expect(begun.toSorted()).toEqual([false, true]);
    }
    expect(await states[0].begunWithin("message", SECOND_MS)).toBe(ROUNDS);
  });

  test("never begin two texts with the same alert", async () => {
    const [first, second] = states;
    for (let round = 0; round < 3 * ROUNDS; round += 1) {
      const [a, b, c] = await acceptRows(first, "a", "b", "c");
      // Another digest, one that has this row as its member, or the member by itself.
      const [row, members] = [[b, [c]] as const, [b, [a]] as const, [c, []] as const][round % 3]!;
      const begun = await Promise.all([
        first.begin(a, { text: "a", members: [c] }),
        second.begin(row, { text: "other", members }),
      ]);
      expect(begun.toSorted()).toEqual([false, true]);
      expect(await first.dropQueued(null)).toBe(3);
    }
  });

  test("deliver one at a time, and the next one when the first has ended", async () => {
    const [first, second] = states;
    const answers = await Promise.all([first.lead(), second.lead(), first.lead(), second.lead()]);
    expect(answers.filter((leads) => leads)).toHaveLength(2);
    const [leader, other] = answers[0] ? [first, second] : [second, first];
    expect(await leader.lead()).toBe(true);
    expect(await other.lead()).toBe(false);
    await leader.close();
    expect(await other.lead()).toBe(true);
  });
}

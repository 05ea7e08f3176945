/** What goes out by the second channel, and what is remembered of it. */
import { expect, test } from "bun:test";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  CREATED,
  DEAD,
  deliveredAs,
  ISSUE_URL,
  issueRowOf,
  MINUTE_MS,
  START_MS,
  type StateFixture,
  UNKNOWN,
} from "../../support/state-fixture.ts";

const VIA_OTHER = { ...sampleAlert().labels, via: "other" };

/** Registers these tests. */
export function secondChannelTests(fixture: () => StateFixture): void {
  test("unacknowledged() gives the urgent ones that were delivered with these ids, until they are e-mailed", async () => {
    const { state } = fixture();
    const accepted = await acceptAll(
      state,
      sampleAlert({ fingerprint: "critical", name: "Disco", severity: " CRITICAL" }),
      sampleAlert({ fingerprint: "high", severity: "high" }),
      sampleAlert({ fingerprint: "alarm", severity: "info", labels: VIA_OTHER }),
      sampleAlert({ fingerprint: "waits", severity: "critical" }),
    );
    const [disk, high, alarm] = accepted.map(({ messageRow }) => messageRow) as [number, number, number];
    await state.settle(issueRowOf(accepted[0]!), CREATED);
    const references = new Map([
      [disk, "nul\u0000 \ud800"],
      [high, "high"],
      [alarm, "alarm"],
    ]);
    for (const [row, reference] of references) await state.settle(row, deliveredAs(reference));
    const asked = ["alarm", "high", "nul\u0000 \ud800", "OPS-1", "other"];
    const found = await state.unacknowledged(asked);
    expect(found).toMatchObject([
      { row: alarm, status: "unacknowledged", acceptedAtMs: START_MS, issueUrl: null },
      {
        row: disk,
        status: "unacknowledged",
        alert: { fingerprint: "critical", name: "Disco", severity: " CRITICAL", firing: true, summary: null },
        issueUrl: ISSUE_URL,
      },
    ]);
    expect(found).toHaveLength(2);
    expect(await state.unacknowledged([])).toEqual([]);
    await state.recordEmailed([disk]);
    const again = await fixture().reopen();
    expect((await again.unacknowledged(asked)).map(({ row }) => row)).toEqual([alarm]);
    expect(await again.detour()).toEqual({ emailed: 1, givenUp: 0 });
  });

  test("a clock set back keeps no alert from the second channel: how long it has waited is not known", async () => {
    const { state, setClock } = fixture();
    const before = await acceptOne(state, sampleAlert({ severity: "critical" }));
    await setClock(START_MS - 60 * MINUTE_MS);
    await acceptOne(state, sampleAlert({ fingerprint: "after", severity: "critical" }));
    expect((await state.unheard(3 * MINUTE_MS)).map(({ row }) => row)).toEqual([before.messageRow]);
  });

  test("recordEmailed() counts a row once, and it is not given again, also when it ends as unknown", async () => {
    const { state } = fixture();
    const critical = ["a", "b", "c"].map((fingerprint) =>
      resolvedAlert({ fingerprint, severity: "critical" }),
    );
    const [first, second, third] = (await acceptAll(state, ...critical)).map(({ messageRow }) => messageRow);
    await state.recordEmailed([first!, second!]);
    await state.recordEmailed([second!, 999_999]);
    expect((await state.unheard(0)).map(({ row }) => row)).toEqual([third!]);
    await state.settle(first!, UNKNOWN);
    expect((await state.unheard(0)).map(({ row }) => row)).toEqual([third!]);
    const again = await fixture().reopen();
    expect(await again.detour()).toEqual({ emailed: 2, givenUp: 0 });
  });

  test("detour() counts what went the other way and what is dead, until a message has said so", async () => {
    const { state } = fixture();
    const [first, second] = await acceptAll(
      state,
      sampleAlert({ severity: "critical" }),
      resolvedAlert({ fingerprint: "f2" }),
    );
    expect(await state.detour()).toEqual({ emailed: 0, givenUp: 0 });
    await state.recordEmailed([first!.messageRow]);
    await state.settle(second!.messageRow, DEAD);
    await state.settle(issueRowOf(first!), DEAD);
    const detour = await state.detour();
    expect(detour).toEqual({ emailed: 1, givenUp: 1 });
    await state.settle(first!.messageRow, DEAD);
    await state.recordDetourTold(detour);
    expect(await state.detour()).toEqual({ emailed: 0, givenUp: 1 });
    await state.recordDetourTold({ emailed: 5, givenUp: 5 });
    expect(await state.detour()).toEqual({ emailed: 0, givenUp: 0 });
  });
}

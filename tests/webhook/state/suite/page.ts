/** What the status page shows of the state. */
import { expect, test } from "bun:test";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  CREATED,
  DEAD,
  deliveredAs,
  ISSUE_URL,
  issueRowOf,
  MINUTE_MS,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

const HOUR_MS = 60 * MINUTE_MS;

/** Registers these tests. */
export function pageTests(fixture: () => StateFixture): void {
  test("recent() shows the latest alerts and what became of each, also when the alert itself is not kept", async () => {
    const { state, setClock } = fixture();
    const labels = { ...sampleAlert().labels, instance: "main" };
    const name = `${"n".repeat(150)}\u0000 🚨`;
    const alert = sampleAlert({ labels, name });
    const [first, second] = await acceptAll(state, alert, resolvedAlert({ fingerprint: "f2" }));
    await setClock(START_MS + MINUTE_MS);
    await state.settle(first!.messageRow, deliveredAs("m"));
    await state.settle(issueRowOf(first!), CREATED);
    await state.recordEmailed([second!.messageRow]);
    await state.settle(second!.messageRow, DEAD);
    const [newest, ...older] = await state.recent(9);
    const { status, firing, severity, squad } = alert;
    expect(older).toEqual([
      {
        row: first!.messageRow,
        acceptedAtMs: START_MS,
        shown: { name, status, firing, severity, squad, about: "main" },
        message: { status: "delivered", code: null, endedAtMs: START_MS + MINUTE_MS, isEmailed: false },
        issue: { status: "delivered", code: null, url: ISSUE_URL },
      },
    ]);
    expect(newest).toMatchObject({
      row: second!.messageRow,
      shown: { status: "resolved", firing: false },
      message: { status: "dead", code: "refused", isEmailed: true },
      issue: null,
    });
    expect(await state.recent(1)).toEqual([newest!]);
  });

  test("recent() names an alert's own issue, whatever its fingerprint got later", async () => {
    const { state } = fixture();
    const [first, repeat] = await acceptAll(state, sampleAlert(), sampleAlert());
    await state.settle(issueRowOf(first!), DEAD);
    const [third] = await acceptAll(state, sampleAlert());
    const issues = (await state.recent(9)).map(({ row, issue }) => [row, issue]);
    expect(issues).toEqual([
      [third!.messageRow, { status: "queued", code: null, url: null }],
      [repeat!.messageRow, null],
      [first!.messageRow, { status: "dead", code: "refused", url: null }],
    ]);
  });

  test("hourly() counts what was accepted in each hour of the clock, the running one last", async () => {
    const { state, setClock } = fixture();
    const hour = Math.floor(START_MS / HOUR_MS) * HOUR_MS;
    expect(await state.hourly(2)).toEqual([0, 0]);
    await setClock(hour + HOUR_MS - 1);
    await acceptAll(state, sampleAlert(), resolvedAlert());
    await setClock(hour + HOUR_MS);
    await acceptAll(state, sampleAlert());
    expect(await state.hourly(3)).toEqual([0, 2, 1]);
    await setClock(hour + 3 * HOUR_MS);
    expect(await state.hourly(1)).toEqual([0]);
    await state.prune();
    const again = await fixture().reopen();
    expect(await again.hourly(4)).toEqual([2, 1, 0, 0]);
  });
}

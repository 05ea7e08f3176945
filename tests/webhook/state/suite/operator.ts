/** What operators and the status page see, what operators change, and what two processes do at once. */

import { expect } from "bun:test";
import {
  type AttemptEnd,
  type AttemptStart,
  KEEP_DELIVERED_MS,
  KEEP_ENDED_MS,
} from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  alertsOf,
  CREATED,
  DAY_MS,
  DEAD,
  DELIVERED,
  deliveredAs,
  dueIds,
  dueRows,
  HOUR_MS,
  ISSUE_URL,
  issueRowOf,
  MAYBE,
  MINUTE_MS,
  retryAfter,
  SECOND_MS,
  START_MS,
  start,
  tryOnce,
  UNKNOWN,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

const instant = (ms: number) => new Date(ms).toISOString();

/** Registers the tests of lists and numbers. */
export function readTests({ test }: StateTests): void {
  test("listQueued() and listDead() give what waits or ended, in order", async ({ state, setClock }) => {
    const critical = sampleAlert({ severity: "critical", fingerprint: "f2", firing: false });
    const accepted = await acceptAll(state, sampleAlert({ name: null }), critical, resolvedAlert());
    const [plain, urgent, member] = accepted.map(({ messageRow }) => messageRow);
    const end = retryAfter(MINUTE_MS, { mayHaveArrived: true });
    await tryOnce(state, plain!, end, start("t", [member!]));
    const tried = { attempts: 1, code: "timeout", nextAttemptAt: instant(START_MS + MINUTE_MS) };
    const of = { kind: "message", digest: null, squad: "infra", acceptedAt: instant(START_MS) } as const;
    const untried = { attempts: 0, code: null, nextAttemptAt: null, alertname: critical.name };
    const queued = await state.listQueued(9);
    expect(queued[0]).toEqual({ ...of, ...untried, id: urgent!, fingerprint: "f2", severity: "critical" });
    expect(queued.slice(1)).toMatchObject([
      { ...of, ...tried, id: plain, alertname: null },
      { ...tried, id: member, digest: plain },
      { kind: "issue", id: issueRowOf(accepted[0]!) },
      { kind: "comment", digest: null },
    ]);
    expect(await state.listQueued(2)).toEqual(queued.slice(0, 2));
    await setClock(START_MS + DAY_MS);
    await state.finish(plain!, UNKNOWN);
    const why = { status: "unknown", attempts: 1, code: "send_unknown", fingerprint: "f1" } as const;
    const ended = { ...of, ...why, diedAt: instant(START_MS + DAY_MS) };
    expect(await state.listDead()).toEqual([
      { ...ended, id: plain!, alertname: null },
      { ...ended, id: member!, alertname: critical.name, digest: plain! },
    ]);
  });

  test("stats() counts what waits and what ended, with bytes and ages", async ({ state, setClock }) => {
    const [one, two, three] = await acceptAll(state, ...alertsOf("a b! c-"));
    const size = ({ alert }: { alert: object }) => Buffer.byteLength(JSON.stringify(alert));
    expect((await state.stats()).queuedBytes).toBe(2 * size(one!) + 2 * size(two!) + size(three!));
    await state.finish(one!.messageRow, DELIVERED);
    await state.finish(issueRowOf(two!), DEAD);
    await state.finish(three!.messageRow, UNKNOWN);
    await setClock(START_MS + SECOND_MS);
    await acceptAll(state, ...alertsOf("d!-"));
    const { reserveBytes: _, queuedBytes: __, ...stats } = await state.stats();
    const counts = { queued: 0, dead: 0, unknown: 0, oldestQueuedAgeMs: null };
    expect(stats).toEqual({
      message: { ...counts, queued: 2, unknown: 1, oldestQueuedAgeMs: SECOND_MS },
      issue: { ...counts, queued: 1, dead: 1, oldestQueuedAgeMs: SECOND_MS },
      comment: counts,
      oldestCriticalAgeMs: SECOND_MS,
    });
    await setClock(START_MS - DAY_MS);
    expect(await state.stats()).toMatchObject({ oldestCriticalAgeMs: 0, message: { oldestQueuedAgeMs: 0 } });
    await state.dropQueued(null);
    expect(await state.stats()).toMatchObject({ oldestCriticalAgeMs: null, queuedBytes: 0 });
  });

  test("recent() gives the latest alerts, how each ended, and its own issue", async ({ state, setClock }) => {
    const alert = sampleAlert({ labels: { instance: "main" }, reason: "NoData" });
    const accepted = await acceptAll(state, alert, alert, resolvedAlert({ fingerprint: "f2" }));
    const [first, repeat, dead] = accepted.map(({ messageRow }) => messageRow);
    const endedAtMs = START_MS + MINUTE_MS;
    await setClock(endedAtMs);
    await tryOnce(state, first!, deliveredAs("m"));
    await state.finish(issueRowOf(accepted[0]!), CREATED);
    await state.recordEmailed([dead!]);
    await state.finish(dead!, DEAD);
    const { name, status, firing, severity, squad, reason } = alert;
    const shown = { name, status, firing, severity, squad, reason, about: "main" };
    const [newest, ...older] = await state.recent(9);
    const issue = { status: "delivered", code: null, url: ISSUE_URL };
    const waits = { status: "queued", code: null, endedAtMs: null, isEmailed: false };
    const delivered = { ...waits, status: "delivered", endedAtMs };
    expect(older as object[]).toEqual([
      { acceptedAtMs: START_MS, shown, row: repeat!, message: waits, issue: null },
      { acceptedAtMs: START_MS, shown, row: first!, message: delivered, issue },
    ]);
    const message = { status: "dead", code: "refused", endedAtMs, isEmailed: true };
    expect(newest).toMatchObject({ row: dead, message, issue: null, shown: { status: "resolved" } });
    expect(await state.recent(1)).toEqual([newest!]);
  });

  test("hourly() counts what was accepted in each hour of the clock", async ({ state, setClock, reopen }) => {
    const hour = Math.floor(START_MS / HOUR_MS) * HOUR_MS;
    expect(await state.hourly(2)).toEqual([0, 0]);
    await setClock(hour + HOUR_MS - 1);
    await acceptAll(state, ...alertsOf("a b-"));
    await setClock(hour + HOUR_MS);
    await acceptAll(state, ...alertsOf("a"));
    expect(await state.hourly(3)).toEqual([0, 2, 1]);
    await setClock(hour + 3 * HOUR_MS);
    await state.prune();
    expect(await (await reopen()).hourly(4)).toEqual([2, 1, 0, 0]);
  });

  test("deliveredBetween() and heldReferences() give ids of messages", async ({ state, setClock }) => {
    const accepted = await acceptAll(state, ...alertsOf("a b c d e"));
    await state.finish(issueRowOf(accepted[0]!), CREATED);
    const [a, b, c, d, e] = accepted.map(({ messageRow }) => messageRow);
    for (const [at, row] of [a!, b!, c!, d!].entries()) {
      await setClock(START_MS + at * MINUTE_MS);
      const members = at === 3 ? [e!] : [];
      await tryOnce(state, row, at === 2 ? DELIVERED : deliveredAs(`wa-${at}`), start("t", members));
    }
    expect(await state.deliveredBetween(HOUR_MS, 0)).toEqual(["wa-3", "wa-1", "wa-0"]);
    expect(await state.deliveredBetween(3 * MINUTE_MS, MINUTE_MS)).toEqual(["wa-1"]);
    expect([...(await state.heldReferences("message", ["wa-1", "wa-9", "OPS-1"]))]).toEqual(["wa-1"]);
    expect([...(await state.heldReferences("issue", ["wa-1", "OPS-1"]))]).toEqual(["OPS-1"]);
    expect((await state.heldReferences("message", [])).size).toBe(0);
  });

  test("check() changes nothing, and no file was quarantined", async ({ state }) => {
    const { meta: _, ...before } = await state.contents();
    await state.check();
    expect(await state.contents()).toMatchObject(before);
    expect(state.quarantined).toBeNull();
  });
}

/** Registers the tests of changes. */
export function changeTests({ test, each }: StateTests): void {
  test("dropQueued() and dropDead() remove what waits or ended, and nothing else", async ({ state }) => {
    const rows = await acceptRows(state, "a", "a", "b", "c", "d", "e", "f");
    const [head, member, other, dead, unknown, third, delivered] = rows;
    for (const row of [dead, third]) await state.finish(row, DEAD);
    await state.finish(unknown, UNKNOWN);
    await state.finish(delivered, DELIVERED);
    await tryOnce(state, head, MAYBE, start("t", [member, other]));
    expect([await state.dropQueued([]), await state.dropDead([])]).toEqual([0, 0]);
    expect(await state.dropQueued([head, dead, delivered, 999_999])).toBe(1);
    expect(await state.dropDead([dead, member, delivered, 999_999])).toBe(1);
    // The members of its text are free again.
    expect((await state.digestible([], 0)).map(({ id }) => id)).toEqual([member, other]);
    await state.finish(head, DELIVERED);
    expect((await state.listDead()).map(({ id }) => id)).toEqual([unknown, third]);
    expect([await state.dropQueued(null), await state.dropDead(null)]).toEqual([2, 2]);
    expect((await state.recent(9)).map(({ row }) => row)).toEqual([delivered]);
  });

  each([["its row"], ["one that it tells"], ["all"]])(
    "retryDead() revives all of a text, by %s",
    async ({ state, setClock, reopen }, named) => {
      const [head, member, delivered] = await acceptRows(state, "a", "b", "c");
      const maybe = retryAfter(0, { triedMs: 500, ambiguous: 3, mayHaveArrived: true });
      await tryOnce(state, head, maybe, start("t", [member]));
      await state.finish(head, UNKNOWN);
      await state.finish(delivered, DELIVERED);
      await setClock(START_MS + DAY_MS);
      for (const none of [[], [delivered, 999_999]]) expect(await state.retryDead(none)).toBe(0);
      expect(await state.retryDead(named === "all" ? null : [named === "its row" ? head : member])).toBe(2);
      const again = await reopen();
      const fresh = { attempts: 0, triedMs: 0, ambiguous: 0, waitedMs: 0 };
      const due = await dueRows(again, "message");
      expect(due).toMatchObject([head, member].map((id) => ({ id, ...fresh })));
      for (const row of [head, member]) await tryOnce(again, row, DELIVERED);
      expect((await again.latest("b")).message).toMatchObject({ status: "delivered", code: null });
    },
  );

  test("hundreds of rows are changed, and thousands pruned", async ({ state, store, setClock }) => {
    const names = Array.from({ length: 1_100 }, (_, at) => sampleAlert({ fingerprint: `f${at}` }));
    const [first] = await acceptAll(state, ...names);
    const end = "update {outbox} set state = $1, code = 'c', ended_at = {now}";
    const endAll = (status: string) => store.write((sql) => sql.run(end, [status]));
    await endAll("dead");
    expect(await state.retryDead(null)).toBe(2_200);
    await endAll("delivered");
    await setClock(START_MS + 32 * DAY_MS);
    await acceptAll(state, ...alertsOf("f"));
    await state.prune();
    expect((await state.recent(9)).map(({ row }) => row > first!.messageRow)).toEqual([true]);
    expect((await state.alertRecords(["f0", "f"])).map(({ fingerprint }) => fingerprint)).toEqual(["f"]);
    expect(await state.dropQueued(null)).toBe(2);
  });

  const KEPT: [string, AttemptEnd, number][] = [
    ["delivered", DELIVERED, KEEP_DELIVERED_MS],
    ["dead", DEAD, KEEP_ENDED_MS],
    ["unknown", UNKNOWN, KEEP_ENDED_MS],
  ];
  each(KEPT)("prune() keeps what is %s for its time", async ({ state, setClock }, _, end, keptMs) => {
    const [first, , later] = await acceptRows(state, "first", "waits", "later");
    await state.finish(first, end);
    await setClock(START_MS + 1);
    await state.finish(later, end);
    const left = async (of: State, atMs: number) => {
      await setClock(START_MS + atMs);
      await of.prune();
      return (await of.recent(9)).map(({ row }) => row - first);
    };
    expect(await left(state, keptMs - 1)).toEqual([2, 1, 0]);
    expect(await left(state, keptMs)).toEqual([2, 1]);
    expect(await left(state, keptMs + 1)).toEqual([1]);
  });
}

const ROUNDS = 10;

/** What another process begins while one begins a text of "a" with member "c"; of the rows of "a", "b" and "c". */
const RIVALS: [string, (rows: readonly [number, number, number]) => [number, AttemptStart]][] = [
  ["the same row", ([a]) => [a, start("other")]],
  ["another text with the member", ([, b, c]) => [b, start("other", [c])]],
  ["another text with the row", ([a, b]) => [b, start("other", [a])]],
  ["the member", ([, , c]) => [c, start("other")]],
];

/** Registers these tests. */
export function processTests({ test, each }: StateTests): void {
  test("claim each issue once, and keep every message, in any order", async ({ state, another }) => {
    const states = [state, await another()];
    const alerts = Array.from({ length: 20 }, (_, at) => sampleAlert({ fingerprint: `f${at}` }));
    const batches = Array.from({ length: 8 }, (_, at) => {
      const ordered = at % 4 < 2 ? alerts : alerts.toReversed();
      return states[at % 2]!.accept([ordered, ordered]);
    });
    const outcomes = (await Promise.all(batches)).flat();
    const accepted = outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : []));
    const ids = new Set(accepted.map(({ issue }) => ("issueId" in issue ? issue.issueId : null)));
    expect([accepted.length, ids.size]).toEqual([320, 20]);
    expect(await dueIds(state, "issue")).toHaveLength(20);
    expect(await state.stats()).toMatchObject({ message: { queued: 320 }, issue: { queued: 20 } });
  });

  each(RIVALS)("begin one text with an alert: %s", async ({ state, another }, _, rival) => {
    const other = await another();
    for (let round = 0; round < ROUNDS; round += 1) {
      const rows = await acceptRows(state, "a", "b", "c");
      const [row, how] = rival(rows);
      const begun = await Promise.all([
        state.begin({ id: rows[0], attempts: 0 }, start("a", [rows[2]])),
        other.begin({ id: row, attempts: 0 }, how),
      ]);
      expect(begun.toSorted()).toEqual([false, true]);
      await state.dropQueued(null);
    }
  });

  test("count together what the next message has to say", async ({ state, another }) => {
    const states = [state, await another()];
    const rows = await acceptRows(state, ...Array.from({ length: 40 }, (_, at) => `f${at}`));
    await Promise.all(rows.map((row, at) => states[at % 2]!.recordEmailed([row])));
    expect(await state.recoveryNote()).toEqual({ emailed: 40, undelivered: 0 });
  });

  test("release a claim and claim it again in turn", async ({ state, another }) => {
    const other = await another();
    for (let round = 0; round < ROUNDS; round += 1) {
      await state.accept([alertsOf("a")]);
      const [issue] = await dueIds(state, "issue");
      const [again] = await Promise.all([acceptOne(other, alertsOf("a")[0]!), state.finish(issue!, DEAD)]);
      expect(await dueIds(other, "issue")).toHaveLength(again.issue.status === "first" ? 1 : 0);
    }
  });

  test("deliver one at a time, and the next one when the first has ended", async ({ state, another }) => {
    const other = await another();
    expect([await state.lead(), await other.lead(), await state.lead()]).toEqual([true, false, true]);
    await state.close();
    expect(await other.lead()).toBe(true);
  });
}

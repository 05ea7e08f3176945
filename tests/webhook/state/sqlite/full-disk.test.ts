/** A state on a real disk that is filled to the last byte. */
import { beforeEach, expect, test } from "bun:test";
import { statfsSync } from "node:fs";
import { OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import type { ReserveSize } from "../../../../lib/webhook/store/sqlite/reserve.ts";
import { openSqliteStore } from "../../../../lib/webhook/store/sqlite/store.ts";
import { requires } from "../../../support/requires.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { type SmallDisk, smallDisk } from "../../../support/small-disk.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  DELIVERED,
  dueIds,
  issueRowOf,
  START_MS,
  start,
  tryOnce,
} from "../../support/state-fixture.ts";
import { startStateProcess } from "../../support/state-process.ts";

const MIB = 2 ** 20;
const RESERVE = { rows: 16, rowBytes: MIB / 4 };
const WHOLE = RESERVE.rows * RESERVE.rowBytes;
const REFUSED = { refused: "state_unavailable" } as const;

const { describe } = requires("root", "mount");

let said: string[];
let count = 0;
beforeEach(() => {
  said = [];
});

/** The state of a service, or of a short command, which has no reserve. */
async function open({ directory }: SmallDisk, reserve: ReserveSize | null = RESERVE): Promise<State> {
  const say = (msg: string) => void said.push(msg);
  const log = { ...silentLog, info: say, warn: say, error: say };
  const service = reserve && { reserve, mayBeUnavailable: true };
  const store = await openSqliteStore({ directory, nowMs: () => START_MS, log, ...service });
  return outboxOn(store, { limits: OUTBOX_LIMITS, comments: false, log });
}

function nextAlert(description = "x".repeat(1_000)) {
  count += 1;
  return sampleAlert({ fingerprint: `f${count}`, description });
}

/** Accepts alerts one by one until one is refused, at most so many; returns the rows of their messages. */
async function acceptUntilRefused(state: State, most: number): Promise<number[]> {
  const rows: number[] = [];
  while (rows.length < most) {
    const [outcome] = await state.accept([[nextAlert()]]);
    if (outcome === undefined || "refused" in outcome) break;
    rows.push(outcome.accepted[0]!.messageRow);
  }
  return rows;
}

const isFull = ({ directory }: SmallDisk) => statfsSync(directory).bfree === 0;
const waiting = (state: State) => dueIds(state, "message", { limit: 100_000 });
const reserveOf = async (state: State) => (await state.stats()).reserveBytes;

describe("a state with a reserve, on a full disk,", () => {
  test("keeps alerts and what becomes of them, and fills its reserve again when there is room", async () => {
    using disk = smallDisk(64);
    const state = await open(disk);
    await state.prune();
    expect(await reserveOf(state)).toBe(WHOLE);
    disk.fill();
    expect(isFull(disk)).toBe(true);
    const rows = await acceptUntilRefused(state, 20_000);
    expect((await state.stats()).queuedBytes).toBeGreaterThan(WHOLE / 2);
    expect(await reserveOf(state)).toBe(0);
    expect(said[0]).toBe("The state's reserve is whole");
    expect(new Set(said.slice(1, -1))).toEqual(
      new Set(["The disk is full: alerts are kept in the state's reserve"]),
    );
    expect(said.at(-1)).toBe("Alerts are refused: the state cannot be written");
    await tryOnce(state, rows[0]!, DELIVERED);
    disk.empty();
    await state.prune();
    expect(await reserveOf(state)).toBe(WHOLE);
    expect(said.at(-1)).toBe("The state's reserve is whole");
    await state.close();
    const again = await open(disk);
    expect(again.quarantined).toBeNull();
    expect(await waiting(again)).toEqual(rows.slice(1));
    await again.close();
  });

  test("lets rows that end make room for others", async () => {
    using disk = smallDisk(64);
    const state = await open(disk);
    await state.prune();
    disk.fill();
    for (let at = 0; at < 500; at += 1) {
      const accepted = await acceptOne(state, nextAlert());
      for (const row of [accepted.messageRow, issueRowOf(accepted)]) {
        await tryOnce(state, row, DELIVERED, start("x".repeat(300)));
      }
    }
    await state.close();
  });

  test("has all that it kept after a stop and a start, once there is room", async () => {
    using disk = smallDisk(64);
    const state = await open(disk);
    await state.prune();
    disk.fill();
    const rows = await acceptUntilRefused(state, 300);
    expect(rows).toHaveLength(300);
    await state.close();
    disk.fill();
    const again = await open(disk);
    expect(await acceptUntilRefused(again, 1)).toEqual([]);
    disk.empty();
    expect(await waiting(again)).toEqual(rows);
    expect(await acceptUntilRefused(again, 1)).toHaveLength(1);
    await again.close();
  });

  test("loses nothing that it accepted before it was killed", async () => {
    using disk = smallDisk(64);
    const child = startStateProcess("reserve", disk.directory);
    expect(await child.next()).toBe("ready");
    disk.fill();
    child.write();
    const rows: number[] = [];
    while (rows.length < 100) rows.push(Number(await child.next()));
    await child.kill();
    const state = await open(disk);
    expect(await waiting(state)).toEqual(expect.arrayContaining(rows));
    expect(await acceptUntilRefused(state, 100)).toHaveLength(100);
    await state.close();
  });

  test("takes all of a disk that it fills itself but for the margin, in requests of many alerts", async () => {
    using disk = smallDisk(64);
    const state = await open(disk);
    const requests = () => Array.from({ length: 20 }, () => [nextAlert()]);
    let accepted = 0;
    for (let isRefused = false; !isRefused; ) {
      const outcomes = await state.accept(requests());
      isRefused = outcomes.some((outcome) => "refused" in outcome);
      accepted += outcomes.filter((outcome) => "accepted" in outcome).length;
    }
    expect(statfsSync(disk.directory).bfree * 4_096).toBeLessThan(4 * MIB);
    expect((await state.stats()).message.queued).toBe(accepted);
    await state.close();
  });

  test("has taken a quarter of a small disk at most", async () => {
    using disk = smallDisk(4);
    const state = await open(disk);
    await state.prune();
    const bytes = await reserveOf(state);
    expect(bytes).toBeGreaterThanOrEqual(MIB / 2);
    expect(bytes).toBeLessThanOrEqual(MIB);
    disk.fill();
    expect(await acceptUntilRefused(state, 20)).toHaveLength(20);
    await state.close();
  });
});

describe("a state that finds the disk full at its start", () => {
  test.each([0, 1])(
    "refuses, and keeps alerts when there is room; with %d alerts kept before",
    async (kept) => {
      using disk = smallDisk(64);
      if (kept > 0) {
        const before = await open(disk, null);
        await acceptOne(before, nextAlert());
        await before.close();
      }
      disk.fill();
      const state = await open(disk);
      expect(said).toEqual([
        "The state cannot be opened at the start: alerts are sent from memory until it can be",
      ]);
      expect(await state.accept([[nextAlert()]])).toEqual([REFUSED]);
      await expect(state.check()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
      expect(await state.lead()).toBe(true);
      disk.empty();
      await acceptOne(state, nextAlert());
      await state.check();
      expect(await waiting(state)).toHaveLength(kept + 1);
      expect(said.at(-1)).toBe("Alerts are accepted again");
      expect(state.quarantined).toBeNull();
      await state.close();
    },
  );

  test("is no state for a short command, which names the full disk", async () => {
    using disk = smallDisk(64);
    disk.fill();
    const opening = open(disk, null);
    await expect(opening).rejects.toMatchObject({
      code: "STATE_UNAVAILABLE",
      hint: "Make room on its disk, or repair it",
    });
  });
});

describe("a state without a reserve", () => {
  test("refuses whole requests on a full disk, keeps the others, and goes on when there is room", async () => {
    using disk = smallDisk(8);
    const state = await open(disk, null);
    disk.fill();
    const requestOf = (length: number) => [
      nextAlert("x".repeat(length)),
      resolvedAlert({ fingerprint: `f${count}`, description: "y".repeat(length) }),
    ];
    let accepted = 0;
    for (const length of [10_000, 10]) {
      for (let isRefused = false; !isRefused; ) {
        const outcomes = await state.accept([requestOf(length), requestOf(length)]);
        isRefused = outcomes.some((outcome) => "refused" in outcome);
        accepted += outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : [])).length;
      }
    }
    await expect(state.check()).rejects.toThrow("full");
    expect((await state.stats()).message.queued).toBe(accepted);
    disk.empty();
    await acceptOne(state, nextAlert());
    await state.check();
    await state.close();
  });
});

/** State files of other versions. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { outboxStats } from "../../../../lib/webhook/state/sqlite/outbox/reads/stats.ts";
import { openSqliteDedup, openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, dueIds, START_MS } from "../../support/state-fixture.ts";
import { wrongMarks } from "../../support/state-marks.ts";
import { createVersion1, type Version1 } from "../../support/state-version-1.ts";

const PAGE = 4_096;

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-upgrade-"));
  path = join(directory, "state.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const options = (folder = directory) => ({ directory: folder, nowMs: () => START_MS, log: silentLog });
const open = (folder?: string) => openSqliteState(options(folder));

/** The file's tables and indexes, and its version. */
function structureOf(file: string): unknown[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const parts = db.prepare("select type, name, tbl_name, sql from sqlite_schema order by type, name").all();
  const version = db.prepare("pragma user_version").get();
  db.close();
  return [version, ...parts];
}

async function structureOfNew(): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-new-"));
  await (await open(folder)).close();
  const structure = structureOf(join(folder, "state.db"));
  rmSync(folder, { recursive: true });
  return structure;
}

/** Writes rows of three fingerprints, some behind each other; returns the queued ones in order of acceptance. */
function fill(old: Version1): number[] {
  old.insert("a", "dead");
  const rows = ["a", "b", "a", "b", "c", "a"].map((fingerprint) => old.insert(fingerprint, "queued"));
  old.deliver(rows[0]!);
  return rows.slice(1);
}

/** Delivers one row after the other until nothing is due; returns them. */
async function deliveryOrder(state: Awaited<ReturnType<typeof open>>): Promise<number[]> {
  const order: number[] = [];
  for (
    let [next] = await dueIds(state, "message");
    next !== undefined;
    [next] = await dueIds(state, "message")
  ) {
    await state.settle(next, DELIVERED);
    order.push(next);
  }
  return order;
}

describe("openSqliteState() on a file of version 1", () => {
  test.each([1, 2] as const)("makes one of version %p what a new file is", async (version) => {
    createVersion1(path, version).close();
    expect(structureOf(path)).not.toEqual(await structureOfNew());
    const state = await open();
    expect(structureOf(path)).toEqual(await structureOfNew());
    expect(state.movedAside).toBeNull();
    await acceptAll(state, resolvedAlert());
    await state.close();
  });

  test("keeps its rows, and delivers them in their order", async () => {
    const old = createVersion1(path);
    const queued = fill(old);
    old.close();
    const state = await open();
    expect(wrongMarks(path)).toEqual([]);
    const { message } = await state.stats();
    expect([message.queued, message.dead]).toEqual([queued.length, 1]);
    expect(await deliveryOrder(state)).toEqual(queued);
    expect(await state.retryDead(null)).toBe(1);
    expect(await dueIds(state, "message")).toEqual([1]);
    expect(wrongMarks(path)).toEqual([]);
    await state.close();
  });

  test("and the process that still has it open go on together", async () => {
    const old = createVersion1(path);
    fill(old);
    const state = await open();
    const last = old.insert("a", "queued");
    const [accepted] = await acceptAll(state, resolvedAlert({ fingerprint: "a" }));
    expect(accepted!.messageRow).toBeGreaterThan(last);
    for (const id of await dueIds(state, "message")) old.deliver(id);
    expect(wrongMarks(path)).toEqual([]);
    expect((await deliveryOrder(state)).slice(-2)).toEqual([last, accepted!.messageRow]);
    expect((await state.stats()).message.queued).toBe(0);
    expect(wrongMarks(path)).toEqual([]);
    old.close();
    await state.close();
  });

  test("keeps what can be read of it when it is damaged", async () => {
    const old = createVersion1(path);
    for (let at = 0; at < 60; at += 1) old.insert(`f${at % 7}`, "queued");
    old.close();
    const bytes = readFileSync(path);
    const file = openSync(path, "r+");
    const page = Math.floor(bytes.lastIndexOf("Load acima de 15") / PAGE);
    writeSync(file, Buffer.alloc(PAGE, 0x5a), 0, PAGE, page * PAGE);
    closeSync(file);
    const state = await open();
    expect(state.movedAside).not.toBeNull();
    expect(structureOf(path)).toEqual(await structureOfNew());
    expect(wrongMarks(path)).toEqual([]);
    const { queued } = (await state.stats()).message;
    expect(queued).toBeGreaterThan(40);
    expect(await deliveryOrder(state)).toHaveLength(queued);
    await state.close();
  });

  test("upgrades it for a short visit too", async () => {
    createVersion1(path).close();
    const { dedup, close } = await openSqliteDedup(options());
    expect(dedup.claim("key", 1_000).status).toBe("first");
    expect(structureOf(path)).toEqual(await structureOfNew());
    close();
  });
});

describe("openSqliteState() on a file of version 2", () => {
  test("keeps its rows, with nothing begun or tried, in the order of their severities", async () => {
    const old = createVersion1(path, 2);
    const severities = ["warning", "High", " CRITICAL ", null, "info"];
    const rows = severities.map((severity, at) => old.insert(`f${at}`, "queued", { severity }));
    const dead = old.insert("dead", "dead", { severity: "critical", labels: { via: "other" } });
    old.close();
    const state = await open();
    const due = await state.due("message", { limit: 9, except: [], issueGraceMs: 0 });
    expect(due.map(({ id }) => id)).toEqual([2, 1, 0, 3, 4].map((at) => rows[at]!));
    for (const row of due)
      expect(row).toMatchObject({ text: null, triedMs: 0, attempts: 0, isUnsettled: false, members: [] });
    expect((await state.unheard(0)).map(({ row }) => row)).toEqual([rows[2]!]);
    expect(await state.retryDead([dead])).toBe(1);
    expect(await dueIds(state, "message", { limit: 2 })).toEqual([rows[2]!, dead]);
    expect((await state.recent(9)).length).toBe(6);
    await state.close();
  });

  test("and the process that still has it open go on together", async () => {
    const old = createVersion1(path, 2);
    old.insert("a", "queued");
    const state = await open();
    const last = old.insert("a", "queued");
    for (const id of await dueIds(state, "message")) old.deliver(id);
    expect(wrongMarks(path)).toEqual([]);
    expect(await deliveryOrder(state)).toEqual([last]);
    old.close();
    await state.close();
  });

  test("a short look counts what is in it, and changes nothing", () => {
    const old = createVersion1(path, 2);
    old.insert("a", "queued", { severity: "critical" });
    old.insert("b", "dead");
    old.close();
    const before = structureOf(path);
    const db = new DatabaseSync(path, { readOnly: true });
    const { message, comment } = outboxStats(db, () => START_MS)();
    db.close();
    expect(message).toEqual({ queued: 1, dead: 1, inDoubt: 0, oldestQueuedAgeMs: 0 });
    expect(comment).toEqual({ queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null });
    expect(structureOf(path)).toEqual(before);
  });
});

describe("openSqliteState() on a file of a newer version", () => {
  test("refuses, names both versions, and leaves it as it is", async () => {
    await (await open()).close();
    const db = new DatabaseSync(path);
    const version = Number(db.prepare("pragma user_version").get()?.user_version);
    db.exec(`pragma user_version = ${version + 1}`);
    db.close();
    const before = structureOf(path);
    await expect(open()).rejects.toMatchObject({
      code: "STATE_UNAVAILABLE",
      message: `Cannot use the state: its version is ${version + 1}, this opsctl knows ${version}`,
      hint: expect.stringContaining("newer"),
    });
    expect(structureOf(path)).toEqual(before);
  });
});

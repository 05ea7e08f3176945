/** The reserve of a state on a real disk that is filled to the last byte. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { RESERVE } from "../../../../lib/webhook/state/sqlite/reserve/reserve-size.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { requires } from "../../../support/requires.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { type SmallDisk, smallDisk } from "../../../support/small-disk.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, issueRowOf, START_MS } from "../../support/state-fixture.ts";
import { RUNTIMES, startStateProcess } from "../../support/state-process.ts";

const MIB = 2 ** 20;
const SIZE = { rows: 16, rowBytes: MIB / 4, logBytes: 16 * MIB };
const WHOLE = SIZE.rows * SIZE.rowBytes;
const ALERT_BYTES = 1_000;

let disk: SmallDisk;
let said: string[];

const { describe } = requires("root", "mount");

function open(directory: string): Promise<State> {
  const say = (msg: string) => void said.push(msg);
  const log = { ...silentLog, info: say, warn: say, error: say };
  return openSqliteState({ directory, nowMs: () => START_MS, log, reserve: SIZE });
}

let number = 0;
const next = () => {
  number += 1;
  return sampleAlert({ fingerprint: `f${number}`, description: "x".repeat(ALERT_BYTES) });
};

/** Accepts alerts one by one until one is refused, at most so many; returns the rows of their messages. */
async function acceptUntilRefused(state: State, most: number): Promise<number[]> {
  const rows: number[] = [];
  while (rows.length < most) {
    const [outcome] = await state.accept([[next()]]);
    if (outcome === undefined || "refused" in outcome) break;
    rows.push(...outcome.accepted.map(({ messageRow }) => messageRow));
  }
  return rows;
}

async function kept(state: State): Promise<number> {
  return (await state.stats()).reserveBytes ?? Number.NaN;
}

/** The numbers of the messages that wait, and whether every page of the closed file is sound. */
function lookAt(directory: string): { waiting: number[]; isSound: boolean } {
  const db = new DatabaseSync(join(directory, "state.db"), { readOnly: true });
  const rows = db
    .prepare("select id from outbox where kind = 'message' and state = 'queued' order by id")
    .all();
  const check = Object.values(db.prepare("pragma integrity_check").get() ?? {})[0];
  db.close();
  return { waiting: rows.map(({ id }) => Number(id)), isSound: check === "ok" };
}

const freeOn = (directory: string) => statfsSync(directory).bfree;

describe("the reserve of a state", () => {
  beforeEach(() => {
    disk = smallDisk(64);
    said = [];
  });
  afterEach(() => disk.remove());

  test("pays for alerts and what becomes of them on a full disk, and is whole again when there is room", async () => {
    const { directory } = disk;
    const state = await open(directory);
    expect(await kept(state)).toBe(0);
    await state.prune();
    expect(await kept(state)).toBe(WHOLE);
    expect(statSync(join(directory, "state.db-wal")).size).toBeGreaterThan(SIZE.logBytes / 2);
    expect(said).toEqual([]);
    disk.fill();
    expect(freeOn(directory)).toBe(0);
    const rows = await acceptUntilRefused(state, 20_000);
    expect((await state.stats()).queuedBytes).toBeGreaterThan(WHOLE / 2);
    expect(await kept(state)).toBe(0);
    expect(said.slice(0, 3)).toEqual([
      "The disk is full: alerts are kept in the state's reserve",
      "The state's reserve is used up: nothing more can be kept until the disk has room",
      "Alerts are refused: the state cannot be written",
    ]);
    const [first] = rows;
    expect(await state.begin(first!, { text: "sent" })).toBe(true);
    await state.settle(first!, DELIVERED);
    disk.empty();
    await state.prune();
    expect(await kept(state)).toBe(WHOLE);
    expect(said.at(-1)).toBe("The state's reserve is whole again");
    await state.close();
    expect(lookAt(directory)).toEqual({ waiting: rows.slice(1), isSound: true });
  });

  test("is not needed twice: rows that end on a full disk make room for others", async () => {
    const state = await open(disk.directory);
    await state.prune();
    disk.fill();
    for (let at = 0; at < 1_000; at += 1) {
      const [accepted] = await acceptAll(state, next());
      for (const row of [accepted!.messageRow, issueRowOf(accepted!)]) {
        expect(await state.begin(row, { text: "x".repeat(300) })).toBe(true);
        await state.settle(row, DELIVERED);
      }
      await state.check();
    }
    await state.close();
  });

  test("keeps what was in the log alone when the disk became full", async () => {
    const { directory } = disk;
    const state = await open(directory);
    await state.prune();
    const before = await acceptUntilRefused(state, 150);
    const bytes = statSync(join(directory, "state.db")).size;
    disk.fill();
    const after = await acceptUntilRefused(state, 600);
    expect(after).toHaveLength(600);
    await state.close();
    expect(statSync(join(directory, "state.db")).size).toBe(bytes);
    expect(lookAt(directory)).toEqual({ waiting: [...before, ...after], isSound: true });
  });

  test("is still there when the service stops and starts on a full disk", async () => {
    const { directory } = disk;
    const state = await open(directory);
    await state.prune();
    disk.fill();
    const rows = await acceptUntilRefused(state, 20);
    await state.close();
    expect(freeOn(directory)).toBe(0);
    const again = await open(directory);
    rows.push(...(await acceptUntilRefused(again, 300)));
    expect(rows).toHaveLength(320);
    await again.close();
    expect(lookAt(directory)).toEqual({ waiting: rows, isSound: true });
  });

  test("takes a quarter of a small disk at most, and says that this is little", async () => {
    disk.remove();
    disk = smallDisk(4);
    const state = await open(disk.directory);
    await state.prune();
    const bytes = await kept(state);
    expect(bytes).toBeGreaterThanOrEqual(MIB / 2);
    expect(bytes).toBeLessThanOrEqual(MIB);
    disk.fill();
    expect(await acceptUntilRefused(state, 20)).toHaveLength(20);
    await state.close();
  });

  test("that never had room does not keep the service from starting while it has a byte to read with", async () => {
    const { directory } = disk;
    await (await openSqliteState({ directory, nowMs: () => START_MS, log: silentLog })).close();
    disk.fill();
    const state = await open(directory);
    await state.prune();
    expect(await kept(state)).toBe(0);
    expect(said).toEqual(["The disk has too little room for the state's reserve"]);
    await state.close();
  });

  test("has a part that is given away so that a service can start on a full disk", async () => {
    const { directory } = disk;
    const state = await open(directory);
    await state.prune();
    await state.close();
    for (const suffix of ["-wal", "-shm"]) rmSync(join(directory, `state.db${suffix}`));
    disk.fill();
    const again = await open(directory);
    expect(await acceptUntilRefused(again, 20)).toHaveLength(20);
    await again.close();
  });

  test("pays while another process takes every byte that it can get", async () => {
    const { directory } = disk;
    const state = await open(directory);
    await state.prune();
    const glutton = spawn("sh", ["-c", "while :; do cat /dev/zero >> ballast; done"], {
      cwd: directory,
      detached: true,
      stdio: "ignore",
    });
    try {
      const rows: number[] = [];
      while (freeOn(directory) > 0 || rows.length < 100) rows.push(...(await acceptUntilRefused(state, 1)));
      const more = await acceptUntilRefused(state, 300);
      expect(more).toHaveLength(300);
      await state.close();
      expect(lookAt(directory)).toEqual({ waiting: [...rows, ...more], isSound: true });
    } finally {
      process.kill(-glutton.pid!, "SIGKILL");
    }
  });

  test("is made, and used, where the log cannot be made longer: the disk has room, but not for this account", async () => {
    const { directory } = disk;
    await (await openSqliteState({ directory, nowMs: () => START_MS, log: silentLog })).close();
    // A quota of its own for the log: another small disk under its name.
    const other = smallDisk(3);
    const [log, there] = [join(directory, "state.db-wal"), join(other.directory, "log")];
    copyFileSync(log, there);
    chmodSync(there, 0o600);
    expect(spawnSync("mount", ["--bind", there, log]).status).toBe(0);
    try {
      const state = await open(directory);
      await state.prune();
      expect(freeOn(other.directory)).toBe(0);
      expect(await kept(state)).toBe(WHOLE);
      disk.fill();
      expect(await acceptUntilRefused(state, 300)).toHaveLength(300);
      await state.close();
    } finally {
      spawnSync("umount", ["-l", log]);
      other.remove();
    }
  });

  test("pays where the account's quota is used up and the disk is not", async () => {
    const { directory } = disk;
    await (await openSqliteState({ directory, nowMs: () => START_MS, log: silentLog })).close();
    // A quota for the state's files: another small disk under their names.
    const other = smallDisk(24);
    const paths = ["state.db", "state.db-wal"].map((name) => join(directory, name));
    for (const [at, path] of paths.entries()) {
      const there = join(other.directory, `${at}`);
      copyFileSync(path, there);
      chmodSync(there, 0o600);
      expect(spawnSync("mount", ["--bind", there, path]).status).toBe(0);
    }
    try {
      const state = await open(directory);
      await state.prune();
      expect(await kept(state)).toBe(WHOLE);
      other.fill();
      const rows = await acceptUntilRefused(state, 20_000);
      expect((await state.stats()).queuedBytes).toBeGreaterThan(WHOLE / 2);
      expect(await kept(state)).toBe(0);
      const [first] = rows;
      expect(await state.begin(first!, { text: "sent" })).toBe(true);
      await state.settle(first!, DELIVERED);
      other.empty();
      await state.prune();
      expect(await kept(state)).toBe(WHOLE);
      await state.close();
      expect(lookAt(directory)).toEqual({ waiting: rows.slice(1), isSound: true });
    } finally {
      for (const path of paths) spawnSync("umount", ["-l", path]);
      other.remove();
    }
  });

  test("is made in steps of a mebibyte of the log and a row, and alerts are accepted in between", async () => {
    const { directory } = disk;
    const state = await open(directory);
    const seen = { log: [] as number[], rows: [] as number[] };
    let isOver = false;
    const refill = state.prune().finally(() => {
      isOver = true;
    });
    for (let before = ""; !isOver; await new Promise((resolve) => setImmediate(resolve))) {
      const now = [statSync(join(directory, "state.db-wal")).size, await kept(state)] as const;
      if (now.join() === before) continue;
      before = now.join();
      seen.log.push(now[0]);
      seen.rows.push(now[1]);
      await acceptAll(state, next());
    }
    await refill;
    const longest = (sizes: number[]) => Math.max(...sizes.slice(1).map((size, at) => size - sizes[at]!));
    expect(longest(seen.rows)).toBe(SIZE.rowBytes);
    expect(longest(seen.log)).toBeLessThanOrEqual(MIB);
    expect(seen.log.at(-1)).toBeGreaterThan(0.9 * SIZE.logBytes);
    await state.close();
  });

  test.each(Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[])(
    "keeps everything that a process on %s accepted before it was killed on a full disk",
    async (runtime) => {
      const { directory } = disk;
      const child = startStateProcess(runtime, "reserve", directory);
      expect(await child.next()).toBe("ready");
      disk.fill();
      child.tell();
      const rows: number[] = [];
      while (rows.length < 100) rows.push(Number(await child.next()));
      await child.kill();
      const state = await open(directory);
      expect(await kept(state)).toBeLessThan(WHOLE);
      expect(await acceptUntilRefused(state, 100)).toHaveLength(100);
      await state.close();
      const { waiting, isSound } = lookAt(directory);
      expect(rows.filter((row) => !waiting.includes(row))).toEqual([]);
      expect(isSound).toBe(true);
    },
  );
});

test("the service's reserve is 32 MiB, with a log that holds what is between two checkpoints four times", () => {
  expect(RESERVE).toEqual({ rows: 32, rowBytes: MIB, logBytes: 16 * MIB });
});

/** A service that starts on a real disk without a byte left. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { requires } from "../../../support/requires.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { type SmallDisk, smallDisk } from "../../../support/small-disk.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, dueIds, START_MS } from "../../support/state-fixture.ts";
import { createVersion1 } from "../../support/state-version-1.ts";

const MIB = 2 ** 20;
const SIZE = { rows: 16, rowBytes: MIB / 4, logBytes: 4 * MIB };
const { describe } = requires("root", "mount");

let disk: SmallDisk;
let said: string[];
let nowMs: number;
beforeEach(() => {
  said = [];
  nowMs = START_MS;
});

function open(directory: string): Promise<State> {
  const say = (msg: string) => void said.push(msg);
  const log = { ...silentLog, info: say, warn: say, error: say };
  return openSqliteState({ directory, nowMs: () => nowMs, log, reserve: SIZE });
}

/** What a full disk may find in the directory. */
const BEFORE: Record<string, (directory: string) => Promise<number>> = {
  "no file": async () => 0,
  "a file without a reserve": async (directory) => {
    const state = await openSqliteState({ directory, nowMs: () => nowMs, log: silentLog });
    await acceptAll(state, sampleAlert());
    await state.close();
    for (const suffix of ["-wal", "-shm"]) rmSync(join(directory, `state.db${suffix}`));
    return 1;
  },
  "a file of version 2": async (directory) => {
    const old = createVersion1(join(directory, "state.db"), 2);
    for (let at = 0; at < 300; at += 1) old.insert(`f${at}`, "queued");
    old.close();
    return 300;
  },
};

describe("openSqliteState() with a reserve, on a full disk", () => {
  beforeEach(() => {
    disk = smallDisk(64);
  });
  afterEach(() => disk.remove());

  test.each(Object.keys(BEFORE))(
    "that has %s, starts, and keeps alerts when there is room",
    async (before) => {
      const { directory } = disk;
      const queued = await BEFORE[before]!(directory);
      disk.fill();
      const state = await open(directory);
      expect(said).toEqual(["The state cannot be opened at the start"]);
      const alert = sampleAlert({ fingerprint: "new" });
      expect(await state.accept([[alert]])).toEqual([{ refused: "state_unavailable" }]);
      await expect(state.check()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
      await expect(state.stats()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
      expect(await state.lead()).toBe(true);
      nowMs += 60_000;
      expect(await state.accept([[alert]])).toEqual([{ refused: "state_unavailable" }]);
      expect(statfsSync(directory).bfree).toBe(0);
      disk.empty();
      nowMs += 60_000;
      await state.check();
      expect((await state.stats()).message.queued).toBe(queued);
      await acceptAll(state, alert);
      expect(await dueIds(state, "message", { limit: 1_000 })).toHaveLength(queued + 1);
      await state.prune();
      expect((await state.stats()).reserveBytes).toBe(SIZE.rows * SIZE.rowBytes);
      expect(said.slice(1)).toEqual([
        "Alerts are refused: the state cannot be written",
        "The state is open again",
        "Alerts are accepted again",
      ]);
      expect(state.movedAside).toBeNull();
      await state.close();
    },
  );

  test("tries to open the file again every five seconds, whatever asks for it", async () => {
    disk.fill();
    const state = await open(disk.directory);
    disk.empty();
    nowMs += 4_999;
    await expect(state.check()).rejects.toMatchObject({ message: "The state could not be opened yet" });
    nowMs += 1;
    await state.check();
    await state.close();
  });

  test("does not stand for a directory that is missing, and a short command names the full disk", async () => {
    const { directory } = disk;
    await expect(open(join(directory, "missing"))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    disk.fill();
    const short = openSqliteState({ directory, nowMs: () => nowMs, log: silentLog });
    await expect(short).rejects.toMatchObject({ code: "STATE_UNAVAILABLE", hint: "Make room on its disk" });
  });
});

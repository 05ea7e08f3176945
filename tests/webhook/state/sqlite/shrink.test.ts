/** State files that give the space of rows that are gone back to the disk. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { acceptAll, dueIds, START_MS } from "../../support/state-fixture.ts";
import { wrongMarks } from "../../support/state-marks.ts";
import { createVersion1 } from "../../support/state-version-1.ts";

const MIB = 2 ** 20;
const SIZE = { rows: 4, rowBytes: MIB / 4, logBytes: MIB };

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-shrink-"));
  path = join(directory, "state.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (reserve?: typeof SIZE) =>
  openSqliteState({ directory, nowMs: () => START_MS, log: silentLog, ...(reserve && { reserve }) });

function autoVacuum(): unknown {
  const db = new DatabaseSync(path, { readOnly: true });
  const mode = db.prepare("pragma auto_vacuum").get()?.auto_vacuum;
  db.close();
  return mode;
}

describe("a state file", () => {
  test("ends where its rows end after a flood, but for what the next flood takes, and keeps its reserve", async () => {
    const state = await open(SIZE);
    await state.prune();
    const [stays] = await acceptAll(state, resolvedAlert({ fingerprint: "first" }));
    const flood = Array.from({ length: 60 }, (_, at) =>
      resolvedAlert({ fingerprint: `f${at}`, description: "x".repeat(MIB / 2) }),
    );
    await acceptAll(state, ...flood);
    const [last] = await acceptAll(state, resolvedAlert({ fingerprint: "last" }));
    const rows = (await state.listQueued(100)).map(({ id }) => id);
    await state.dropQueued(rows.filter((id) => id !== stays!.messageRow && id !== last!.messageRow));
    await state.check();
    expect(statSync(path).size).toBeGreaterThan(30 * MIB);
    await state.prune();
    await state.close();
    expect(statSync(path).size).toBeLessThan(20 * MIB);
    expect(statSync(path).size).toBeGreaterThan(15 * MIB);
    const again = await open(SIZE);
    expect(await dueIds(again, "message")).toEqual([stays!.messageRow, last!.messageRow]);
    expect((await again.stats()).reserveBytes).toBe(SIZE.rows * SIZE.rowBytes);
    await again.close();
  });

  test("of an older version is made so by the service, and only by it", async () => {
    const old = createVersion1(path, 2);
    const rows = ["a", "b", "a"].map((fingerprint) => old.insert(fingerprint, "queued"));
    old.close();
    await (await open()).close();
    expect(autoVacuum()).toBe(0);
    const state = await open(SIZE);
    await state.prune();
    expect(await dueIds(state, "message")).toEqual([rows[0]!, rows[1]!]);
    await state.close();
    expect(autoVacuum()).toBe(2);
    expect(wrongMarks(path)).toEqual([]);
  });

  test("of an older version that another process has open and writes to stays as it is, and is used", async () => {
    const old = createVersion1(path, 2);
    const row = old.insert("a", "queued");
    const state = await open(SIZE);
    expect(await dueIds(state, "message")).toEqual([row]);
    old.insert("b", "queued");
    await state.prune();
    await acceptAll(state, resolvedAlert({ fingerprint: "c" }));
    expect(await dueIds(state, "message")).toHaveLength(3);
    old.close();
    await state.close();
  });
});

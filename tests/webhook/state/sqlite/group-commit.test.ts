/** Writes that share a commit, and what is read meanwhile. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sql, Store } from "../../../../lib/webhook/store/sql.ts";
import { openMemoryStore, openSqliteStore } from "../../../../lib/webhook/store/sqlite/store.ts";
import { silentLog } from "../../../support/silent-log.ts";

let directory: string;

const KEYS = "select cast(key as bigint) as key from {meta} where key <> 'version' order by 1";
const insert = (sql: Sql, ...keys: number[]) =>
  sql.insert(
    "meta",
    ["key", "value"],
    keys.map((key) => [String(key), ""]),
  );
const write = (store: Store, ...keys: number[]) => store.write((sql) => insert(sql, ...keys));
const keysOf = async (store: Store) => (await store.read((sql) => sql.all(KEYS))).map(({ key }) => key);

describe.each(["a file", "memory"])("writes of one turn in %s", (kind) => {
  let store: Store;
  let nowMs = 1;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "opsctl-commit-"));
    const clock = () => nowMs++;
    const log = silentLog;
    store =
      kind === "memory" ? openMemoryStore(clock) : await openSqliteStore({ directory, nowMs: clock, log });
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });

  test("fail alone for an error of their own", async () => {
    const ends = await Promise.allSettled([
      write(store, 1),
      store.write(async (sql) => {
        await insert(sql, 4);
        throw new RangeError("own");
      }),
      write(store, 5),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await keysOf(store)).toEqual([1, 5]);
  });

  test("keep nothing that was called together with what failed", async () => {
    const both = store.write((sql) =>
      Promise.all([
        insert(sql, 1).then(() => Promise.reject(new RangeError("own"))),
        insert(sql, 2),
        sql.run("delete from {meta} where key <> 'version'").then(() => insert(sql, 3)),
      ]),
    );
    const [failed] = await Promise.allSettled([both, write(store, 4)]);
    expect(failed?.status).toBe("rejected");
    expect(await keysOf(store)).toEqual([4]);
  });

  test("are read when they are committed, and have the clock", async () => {
    const times = store.write(async (sql) => {
      await insert(sql, 1, 2);
      const [row] = await sql.all("select {now} > 0 as one, typeof({now}) as type, typeof($1) as other", [7]);
      return [row?.one, row?.type, row?.other];
    });
    expect(await keysOf(store)).toEqual([]);
    expect(await times).toEqual([1, "integer", "integer"]);
    expect(await keysOf(store)).toEqual([1, 2]);
  });

  test("end before the store is closed, and none afterwards", async () => {
    const kept = write(store, 1);
    await store.close();
    await kept;
    await expect(write(store, 2)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    await expect(keysOf(store)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });
});

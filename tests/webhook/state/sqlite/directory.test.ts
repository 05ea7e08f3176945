/** Where a state file may be, who may read it, and how long it stays. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitStatusOf } from "../../../../cli/framework/exit-status.ts";
import { OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import { openSqliteStore } from "../../../../lib/webhook/store/sqlite/store.ts";
import { requires } from "../../../support/requires.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { smallDisk } from "../../../support/small-disk.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { acceptAll, acceptOne, dueIds, START_MS } from "../../support/state-fixture.ts";

const MIB = 2 ** 20;
const NOBODY = 65_534;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-directory-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function open(folder = directory) {
  const reserve = { rows: 1, rowBytes: 4_096 };
  const store = await openSqliteStore({ directory: folder, nowMs: () => START_MS, log: silentLog, reserve });
  return outboxOn(store, { limits: OUTBOX_LIMITS, comments: false, log: silentLog });
}

describe("a state whose directory", () => {
  test("is missing or none names it, as something to be made ready", async () => {
    const missing = join(directory, "missing");
    await expect(open(missing)).rejects.toMatchObject({
      code: "STATE_UNAVAILABLE",
      message: `Cannot open the state in ${missing}: the directory is missing`,
      hint: expect.stringContaining("OPSCTL_STATE_DIR"),
    });
    writeFileSync(join(directory, "file"), "");
    await expect(open(join(directory, "file"))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    mkdirSync(join(directory, "state.db"));
    await expect(open()).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(exitStatusOf("STATE_UNAVAILABLE")).toBe(3);
  });

  requires("root").test("a state whose file is another account's cannot be opened", async () => {
    await (await open()).close();
    chmodSync(directory, 0o755);
    await expect(asNobody(open)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    chmodSync(directory, 0o555);
    for (const name of ["state.db", "state.lock"]) chmodSync(join(directory, name), 0o666);
    rmSync(join(directory, "state.lock"));
    await expect(asNobody(open)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });

  requires("root", "mount").test.each([false, true])(
    "is on a read-only disk names the unit's setting; with a file: %p",
    async (hasFile) => {
      using disk = smallDisk(16);
      if (hasFile) await (await open(disk.directory)).close();
      spawnSync("mount", ["-o", "remount,ro", disk.directory]);
      await expect(open(disk.directory)).rejects.toMatchObject({
        code: "STATE_UNAVAILABLE",
        hint: expect.stringContaining("below [Service] ReadWritePaths="),
      });
    },
  );
});

test("a state file ends where its rows end after a flood, but for what the next flood takes", async () => {
  const state = await open();
  const flood = Array.from({ length: 60 }, (_, at) =>
    resolvedAlert({ fingerprint: `f${at}`, description: "x".repeat(MIB / 2) }),
  );
  await acceptAll(state, ...flood);
  const last = await acceptOne(state, resolvedAlert({ fingerprint: "last" }));
  const rows = (await state.listQueued(100)).map(({ id }) => id);
  await state.dropQueued(rows.filter((id) => id !== last.messageRow));
  const sizeOf = () => statSync(join(directory, "state.db")).size;
  await state.check();
  expect(sizeOf()).toBeGreaterThan(30 * MIB);
  await state.prune();
  await state.close();
  expect(sizeOf()).toBeLessThan(20 * MIB);
  const again = await open();
  expect(await dueIds(again, "message")).toEqual([last.messageRow]);
  await again.close();
});

/** Runs `work` as an account that owns nothing. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** A state file that is taken away while the service has it open. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { hasLog } from "../../../../lib/webhook/state/sqlite/file/log-keeper.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, dueIds, START_MS } from "../../support/state-fixture.ts";
import { startStateProcess } from "../../support/state-process.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-place-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

let said: string[];
beforeEach(() => {
  said = [];
});

const open = () =>
  openSqliteState({
    directory,
    nowMs: () => START_MS,
    log: { ...silentLog, error: (msg: string) => void said.push(msg) },
  });
const log = () => join(directory, "state.db-wal");
const files = () => readdirSync(directory).filter((name) => name.startsWith("state.db"));

/** Opens the state as the next process does after a kill, while the first one is not closed. */
async function afterKill<T>(look: (state: State) => Promise<T>): Promise<T> {
  const state = await open();
  try {
    return await look(state);
  } finally {
    await state.close();
  }
}

describe("a state file that is taken away", () => {
  test("is put back with everything that was in it, and what is accepted then survives", async () => {
    const state = await open();
    const [sent, waiting] = await acceptAll(state, sampleAlert(), sampleAlert({ fingerprint: "waiting" }));
    for (const name of files()) rmSync(join(directory, name));
    await state.settle(sent!.messageRow, DELIVERED);
    const [late] = await acceptAll(state, sampleAlert({ fingerprint: "late" }));
    expect(await afterKill((next) => dueIds(next, "message"))).toEqual([
      waiting!.messageRow,
      late!.messageRow,
    ]);
    expect(statSync(join(directory, "state.db")).mode & 0o777).toBe(0o600);
    const [again] = await acceptAll(state, sampleAlert({ fingerprint: "waiting" }));
    expect(again!.issue.status).toBe("duplicate");
    await state.close();
  });

  test("and has another one in its place gives way to that one", async () => {
    const state = await open();
    await acceptAll(state, sampleAlert());
    for (const name of files()) renameSync(join(directory, name), join(directory, `old-${name}`));
    await afterKill(async () => {});
    const [late] = await acceptAll(state, sampleAlert({ fingerprint: "late" }));
    expect(await afterKill((next) => dueIds(next, "message"))).toEqual([late!.messageRow]);
    await state.close();
  });
});

describe("the log of a state file", () => {
  test("that is taken away while it is in use loses nothing, and another process finds everything", async () => {
    const state = await open();
    const [before] = await acceptAll(state, sampleAlert());
    rmSync(log());
    const [late] = await acceptAll(state, sampleAlert({ fingerprint: "late" }));
    expect(said).toEqual([
      "The log of the state file was taken away while it was in use: nothing in it is lost",
    ]);
    expect(statSync(log()).size).toBeGreaterThan(0);
    expect(await afterKill((next) => dueIds(next, "message"))).toEqual([
      before!.messageRow,
      late!.messageRow,
    ]);
    await state.close();
  });

  test("that is taken away after a kill is missed, once", async () => {
    await killedProcess();
    rmSync(log());
    await (await open()).close();
    expect(said).toEqual([
      "The log of the state file is missing: alerts that were accepted last may be lost",
    ]);
    await (await open()).close();
    expect(said).toHaveLength(1);
  });

  test("is not missed after a kill while it is there, and not when everything was closed", async () => {
    await killedProcess();
    await (await open()).close();
    rmSync(log());
    await (await open()).close();
    rmSync(log());
    rmSync(join(directory, "state.db-shm"));
    const state = await open();
    await acceptAll(state, sampleAlert({ fingerprint: "late" }));
    await state.close();
    expect(said).toEqual([]);
  });

  test("has nothing once everything is closed: a copy that is put back is read as it is", async () => {
    await (await open()).close();
    const copy = readFileSync(join(directory, "state.db"));
    const state = await open();
    await acceptAll(state, sampleAlert(), sampleAlert({ fingerprint: "other" }));
    await state.close();
    expect(hasLog(join(directory, "state.db"))).toBe(false);
    writeFileSync(join(directory, "state.db"), copy);
    const again = await open();
    expect(await dueIds(again, "message")).toEqual([]);
    await again.close();
    expect(said).toEqual([]);
  });

  test("of a file that is damaged and mended is not missed", async () => {
    await killedProcess();
    rmSync(log());
    writeFileSync(join(directory, "state.db"), "no database");
    const state = await open();
    expect(state.movedAside).not.toBeNull();
    await state.close();
    said = [];
    await (await open()).close();
    expect(said).toEqual([]);
  });
});

/** Leaves what a process leaves that was killed with alerts in the log. */
async function killedProcess(): Promise<void> {
  const child = startStateProcess("Bun", "accept", directory);
  for (let at = 0; at < 5; at += 1) await child.next();
  await child.kill();
}

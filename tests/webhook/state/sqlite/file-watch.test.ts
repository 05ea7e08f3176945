/** A state file that is taken away while the service has it open. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DELIVERED, dueIds, START_MS } from "../../support/state-fixture.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-place-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => openSqliteState({ directory, nowMs: () => START_MS, log: silentLog });
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

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { type OpenStateFixture, START_MS } from "../../support/state-fixture.ts";
import { stateSuite } from "../suite/state-suite.ts";

stateSuite("openSqliteState()", openFixture);

async function openFixture({ limits, comments = false }: Parameters<OpenStateFixture>[0] = {}) {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-state-"));
  const states: State[] = [];
  let clockMs = START_MS;
  const open = async () => {
    const state = await openSqliteState({
      directory,
      nowMs: () => clockMs,
      log: silentLog,
      comments,
      ...(limits && { limits }),
    });
    states.push(state);
    return state;
  };
  const closeAll = async () => {
    for (const state of states.splice(0)) await state.close();
  };
  return {
    state: await open(),
    setClock(ms: number) {
      clockMs = ms;
    },
    another: open,
    async reopen() {
      await closeAll();
      return await open();
    },
    spoil(row: number, text: string) {
      const db = new DatabaseSync(join(directory, "state.db"));
      db.prepare("update outbox set alert = ? where id = ?").run(text, row);
      db.close();
    },
    async close() {
      await closeAll();
      rmSync(directory, { recursive: true });
    },
  };
}

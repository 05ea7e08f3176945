/** The stores of the state on which the same tests run: a file, and PostgreSQL in its newest and oldest version. */
import { afterAll, beforeAll, describe } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../lib/webhook/state/postgres/state.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import { MAJORS } from "../../sql/support/ledger.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createStateDatabase, refuseInserts, type StateDatabase } from "./postgres-state.ts";
import { type OpenStateFixture, START_MS, type StateFixture } from "./state-fixture.ts";

/** Registers the same tests for each store. */
export function describeStores(define: (open: OpenStateFixture) => void): void {
  describe("a state in a file", () => define(openInFile));
  for (const major of MAJORS) {
    describe(`a state on PostgreSQL ${major ?? "18"}`, () => {
      let store: StateDatabase;
      beforeAll(async () => {
        store = await createStateDatabase(major);
      });
      afterAll(() => store.database.drop());
      define((options) => openOnPostgres(store, options));
    });
  }
}

async function openInFile(options: Parameters<OpenStateFixture>[0] = {}): Promise<StateFixture> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-state-"));
  let clockMs = START_MS;
  const states = statesOf(() =>
    openSqliteState({ directory, nowMs: () => clockMs, log: silentLog, ...options }),
  );
  return {
    state: await states.open(),
    setClock(ms) {
      clockMs = ms;
    },
    another: states.open,
    reopen: states.reopen,
    spoil: (row, text) =>
      inFile(directory, (db) => db.prepare("update outbox set alert = ? where id = ?").run(text, row)),
    refuse: (fingerprint) =>
      inFile(directory, (db) =>
        db.exec(`
          create trigger refuse before insert on outbox when new.fingerprint = '${fingerprint}'
          begin select raise(abort, 'refused'); end`),
      ),
    async close() {
      await states.close();
      rmSync(directory, { recursive: true });
    },
  };
}

async function openOnPostgres(
  store: StateDatabase,
  options: Parameters<OpenStateFixture>[0] = {},
): Promise<StateFixture> {
  await store.empty(START_MS);
  const url = new Secret(store.database.url);
  const states = statesOf(() =>
    openPostgresState({ url, log: silentLog, applicationName: "opsctl webhook serve", ...options }),
  );
  return {
    state: await states.open(),
    setClock: store.setClock,
    another: states.open,
    reopen: states.reopen,
    async spoil(row, text) {
      await store.database.sql`update opsctl_state.outbox set alert = ${text} where id = ${row}`;
    },
    async refuse(fingerprint) {
      await refuseInserts(store.database.sql, fingerprint);
    },
    async close() {
      await store.database.sql`drop trigger if exists refuse on opsctl_state.outbox`;
      await states.close();
    },
  };
}

function inFile(directory: string, work: (db: DatabaseSync) => unknown): void {
  const db = new DatabaseSync(join(directory, "state.db"));
  work(db);
  db.close();
}

/** The states that a fixture has open. */
function statesOf(openState: () => Promise<State>) {
  const opened: State[] = [];
  const open = async () => {
    const state = await openState();
    opened.push(state);
    return state;
  };
  const close = async () => {
    for (const state of opened.splice(0)) await state.close();
  };
  return {
    open,
    close,
    async reopen() {
      await close();
      return await open();
    },
  };
}

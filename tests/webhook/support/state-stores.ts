/** The stores on which the same tests run: a file, memory, and PostgreSQL in its newest and oldest version. */
import { afterAll, beforeAll, describe, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { OUTBOX_LIMITS } from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../../lib/webhook/store/postgres/store.ts";
import type { Store } from "../../../lib/webhook/store/sql.ts";
import { openMemoryStore, openSqliteStore } from "../../../lib/webhook/store/sqlite/store.ts";
import { MAJORS } from "../../sql/support/ledger.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createStateDatabase, type StateDatabase } from "./postgres-state.ts";
import { type OpenStateFixture, START_MS, type StateFixture, type StateOptions } from "./state-fixture.ts";

/**
 * Registers tests that get a state on an empty store each.
 *
 * Shape: `isShared`: another process can open the same store. `hasLease`: a lease says who delivers.
 */
export type StateTests = {
  test(title: string, run: (fixture: StateFixture) => Promise<unknown>, options?: StateOptions): void;
  each<Row extends readonly [unknown, ...unknown[]]>(
    rows: readonly Row[],
    optionsOf?: (...row: Row) => StateOptions,
  ): (title: string, run: (fixture: StateFixture, ...row: Row) => Promise<unknown>) => void;
  /** Runs with a state that is opened with options. */
  opened<T>(options: StateOptions, run: (fixture: StateFixture) => Promise<T>): Promise<T>;
  isShared: boolean;
  hasLease: boolean;
};

/** Registers the same tests for each store. */
export function describeStores(define: (tests: StateTests) => void): void {
  describe("a state in a file", () => define(testsOn(openInFile, { isShared: true, hasLease: false })));
  describe("a state in memory", () => define(testsOn(openInMemory, { isShared: false, hasLease: false })));
  for (const major of MAJORS) {
    describe(`a state on PostgreSQL ${major ?? "18"}`, () => {
      let database: StateDatabase;
      beforeAll(async () => {
        database = await createStateDatabase(major);
      });
      afterAll(() => database.database.drop());
      const open = (options?: StateOptions) => openOnPostgres(database, options);
      define(testsOn(open, { isShared: true, hasLease: true }));
    });
  }
}

function testsOn(open: OpenStateFixture, kind: { isShared: boolean; hasLease: boolean }): StateTests {
  const opened: StateTests["opened"] = async (options, run) => {
    const fixture = await open(options);
    return await run(fixture).finally(() => fixture.close());
  };
  return {
    ...kind,
    opened,
    test: (title, run, options = {}) => test(title, async () => void (await opened(options, run))),
    each: (rows, optionsOf) => (title, run) =>
      test.each(rows as never)(title, async (...row) => {
        await opened(optionsOf?.(...(row as never)) ?? {}, (fixture) => run(fixture, ...(row as never)));
      }),
  };
}

/** Opens a state on SQLite in memory, with the clock at `START_MS`. */
export async function openInMemory(options: StateOptions = {}): Promise<StateFixture> {
  const { state, ...fixture } = await openOnSqlite(openMemoryStore, options);
  // No other process has it, and nothing outlives it.
  return { ...fixture, state, another: async () => state, reopen: async () => state };
}

async function openInFile(options: StateOptions = {}): Promise<StateFixture> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-state-"));
  const open = (nowMs: () => number) => openSqliteStore({ directory, nowMs, log: silentLog });
  const { close, ...fixture } = await openOnSqlite(open, options);
  return { ...fixture, close: () => close().finally(() => rmSync(directory, { recursive: true })) };
}

async function openOnSqlite(open: (nowMs: () => number) => Store | Promise<Store>, options: StateOptions) {
  let clockMs = START_MS;
  const states = statesOf(async () => await open(() => clockMs), options);
  const setClock = (ms: number) => {
    clockMs = ms;
  };
  const another = async () => (await states.open()).state;
  return { ...(await states.openLeading()), setClock, another, reopen: states.reopen, close: states.close };
}

async function openOnPostgres(
  { database, empty, setClock }: StateDatabase,
  options: StateOptions = {},
): Promise<StateFixture> {
  await empty(START_MS);
  const url = new Secret(database.url);
  const applicationName = "opsctl webhook serve";
  const states = statesOf(() => openPostgresStore({ url, log: silentLog, applicationName }), options);
  const { state, store } = await states.openLeading();
  return {
    state,
    store,
    setClock,
    another: async () => (await states.open()).state,
    reopen: states.reopen,
    close: states.close,
  };
}

/** The states that a fixture has open. */
function statesOf(openStore: () => Promise<Store>, options: StateOptions) {
  const opened: State[] = [];
  const open = async () => {
    const store = await openStore();
    const state = outboxOn(store, { limits: OUTBOX_LIMITS, comments: true, log: silentLog, ...options });
    opened.push(state);
    return { state, store };
  };
  const openLeading = async () => {
    const { state, store } = await open();
    await state.lead();
    return { state, store };
  };
  const close = async () => {
    for (const state of opened.splice(0)) await state.close();
  };
  return {
    open,
    openLeading,
    close,
    async reopen() {
      await close();
      return (await openLeading()).state;
    },
  };
}

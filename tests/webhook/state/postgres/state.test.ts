import { afterAll, beforeAll, describe } from "bun:test";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createStateDatabase, type StateDatabase } from "../../support/postgres-state.ts";
import { type OpenStateFixture, START_MS, type StateFixture } from "../../support/state-fixture.ts";
import { stateSuite } from "../suite/state-suite.ts";

for (const major of [undefined, 15]) {
  const name = `openPostgresState() on PostgreSQL ${major ?? "18"}`;
  let store: StateDatabase;

  describe(name, () => {
    beforeAll(async () => {
      store = await createStateDatabase(major);
    });
    afterAll(() => store.database.drop());
    stateSuite(name, (options) => openFixture(store, options));
  });
}

async function openFixture(
  store: StateDatabase,
  options: Parameters<OpenStateFixture>[0] = {},
): Promise<StateFixture> {
  await store.empty(START_MS);
  const states: State[] = [];
  const open = async () => {
    const state = await openPostgresState({
      url: new Secret(store.database.url),
      ...options,
      log: silentLog,
      applicationName: "opsctl webhook serve",
    });
    states.push(state);
    return state;
  };
  const closeAll = async () => {
    await Promise.all(states.splice(0).map((state) => state.close()));
  };
  return {
    state: await open(),
    setClock: store.setClock,
    another: open,
    async reopen() {
      await closeAll();
      return await open();
    },
    async spoil(row, text) {
      await store.database.sql`update opsctl_state.outbox set alert = ${text} where id = ${row}`;
    },
    close: closeAll,
  };
}

/** Several hosts on one PostgreSQL: who delivers, by the database's clock. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { MAJORS } from "../../../sql/support/ledger.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createStateDatabase, refuseInserts, type StateDatabase } from "../../support/postgres-state.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { acceptRows, DAY_MS, SECOND_MS, START_MS } from "../../support/state-fixture.ts";

for (const major of MAJORS) {
  describe(`two hosts on PostgreSQL ${major ?? "18"}`, () => {
    let store: StateDatabase;
    let hosts: [State, State];
    const errors: string[] = [];
    const open = () =>
      openPostgresState({
        url: new Secret(store.database.url),
        log: { ...silentLog, error: (msg) => void errors.push(msg) },
        applicationName: "opsctl webhook serve",
      });

    beforeAll(async () => {
      store = await createStateDatabase(major);
      hosts = [await open(), await open()];
    });
    beforeEach(() => store.empty(START_MS));
    afterAll(async () => {
      await Promise.all(hosts.map((host) => host.close()));
      await store.database.drop();
    });

    test("the next host delivers 15 seconds after the last word of the one before, and no sooner", async () => {
      const [first, second] = hosts;
      expect(await first.lead()).toBe(true);
      await store.setClock(START_MS + 14 * SECOND_MS);
      expect(await first.lead()).toBe(true);
      await store.setClock(START_MS + 29 * SECOND_MS - 1);
      expect(await second.lead()).toBe(false);
      await store.setClock(START_MS + 29 * SECOND_MS);
      expect(await second.lead()).toBe(true);
      expect(await first.lead()).toBe(false);
      // A clock set back delays no row by a day.
      await store.setClock(START_MS - DAY_MS);
      expect(await first.lead()).toBe(false);
      await store.setClock(START_MS - DAY_MS + 15 * SECOND_MS);
      expect(await first.lead()).toBe(true);
    });

    test("a host that was asleep begins nothing beside the one that delivers now", async () => {
      const [first, second] = hosts;
      const [row] = await acceptRows(first, "f1");
      expect(await first.lead()).toBe(true);
      await store.setClock(START_MS + 15 * SECOND_MS);
      expect(await second.lead()).toBe(true);
      expect(await first.begin(row, { text: "t" })).toBe(false);
      expect(await second.begin(row, { text: "t" })).toBe(true);
      await store.setClock(START_MS + 30 * SECOND_MS);
      expect(await first.begin(row, null)).toBe(true);
    });

    test("a request that the database refuses is logged once, however often it comes", async () => {
      await refuseInserts(store.database.sql, "poison");
      for (let times = 0; times < 3; times += 1) {
        const requests = [[sampleAlert({ fingerprint: "poison" })], [sampleAlert()]];
        expect(await hosts[0].accept(requests)).toMatchObject([
          { refused: "state_unavailable" },
          { accepted: [{}] },
        ]);
      }
      expect(errors).toEqual(["A request was refused, because the state's database did not take it"]);
    });
  });
}

/** Several hosts on one PostgreSQL: who delivers, by the database's clock. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../../../lib/webhook/store/postgres/store.ts";
import { MAJORS } from "../../../sql/support/ledger.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createStateDatabase, type StateDatabase } from "../../support/postgres-state.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  DAY_MS,
  issueRowOf,
  onlyDue,
  SECOND_MS,
  START_MS,
  start,
} from "../../support/state-fixture.ts";

for (const major of MAJORS) {
  describe(`two hosts on PostgreSQL ${major ?? "18"}`, () => {
    let store: StateDatabase;
    let hosts: [State, State];
    const open = async () => {
      const url = new Secret(store.database.url);
      const opened = await openPostgresStore({
        url,
        log: silentLog,
        applicationName: "opsctl webhook serve",
      });
      return outboxOn(opened, { limits: OUTBOX_LIMITS, comments: true, log: silentLog });
    };

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
      // A clock set back leaves nobody waiting for it.
      await store.setClock(START_MS - DAY_MS);
      expect(await first.lead()).toBe(true);
    });

    test("the next host delivers at once when the one before has ended", async () => {
      const first = await open();
      expect(await first.lead()).toBe(true);
      expect(await hosts[1].lead()).toBe(false);
      await first.close();
      expect(await hosts[1].lead()).toBe(true);
    });

    test("one host takes the lease when many ask for it at once", async () => {
      const others = await Promise.all([open(), open(), open()]);
      const leading = await Promise.all([...hosts, ...others].map((host) => host.lead()));
      expect(leading.filter(Boolean)).toHaveLength(1);
      await Promise.all(others.map((host) => host.close()));
    });

    test("a host that was asleep begins nothing beside the one that delivers now", async () => {
      const [first, second] = hosts;
      await acceptOne(first, resolvedAlert());
      const row = await onlyDue(first);
      expect(await first.lead()).toBe(true);
      await store.setClock(START_MS + 15 * SECOND_MS);
      expect(await second.lead()).toBe(true);
      expect(await first.begin(row, start("text"))).toBe(false);
      expect(await second.begin(row, start("text"))).toBe(true);
    });

    test("one issue is claimed when both hosts are sent an alert at once, and rows are numbered in their order", async () => {
      const accepted = await Promise.all(
        Array.from({ length: 20 }, (_, at) => acceptOne(hosts[at % 2]!, sampleAlert())),
      );
      const claimed = accepted.filter(({ issue }) => issue.status === "first");
      expect(claimed).toHaveLength(1);
      expect(issueRowOf(claimed[0]!)).toBeGreaterThan(claimed[0]!.messageRow);
      expect(new Set(accepted.map(({ messageRow }) => messageRow)).size).toBe(20);
    });
  });
}

/** Several hosts on one PostgreSQL, requests that fail alone, and what hosts do at once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { MAJORS } from "../../../sql/support/ledger.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createStateDatabase, type StateDatabase } from "../../support/postgres-state.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DAY_MS,
  DELIVERED,
  dueIds,
  retryAfter,
  SECOND_MS,
  START_MS,
} from "../../support/state-fixture.ts";

for (const major of MAJORS) {
  describe(`openPostgresState() on PostgreSQL ${major ?? "18"}`, () => {
    let store: StateDatabase;
    let hosts: [State, State];
    const errors: string[] = [];
    const open = () =>
      openPostgresState({
        url: new Secret(store.database.url),
        log: { ...silentLog, error: (msg) => void errors.push(msg) },
        applicationName: "opsctl webhook serve",
        comments: true,
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

    test("gives each fingerprint one issue and one turn, in whatever order hosts take the same alerts", async () => {
      const alerts = Array.from({ length: 30 }, (_, index) => sampleAlert({ fingerprint: `f${index}` }));
      const batches = Array.from({ length: 12 }, (_, at) => {
        const ordered = at % 2 === 0 ? alerts : alerts.toReversed();
        return hosts[at % 2]!.accept([ordered, ordered]);
      });
      const outcomes = (await Promise.all(batches)).flat();
      expect(outcomes.filter((outcome) => "refused" in outcome)).toEqual([]);
      expect(await dueIds(hosts[0], "message")).toHaveLength(30);
      expect(await dueIds(hosts[0], "issue")).toHaveLength(30);
      expect(await hosts[0].stats()).toMatchObject({ message: { queued: 720 }, issue: { queued: 30 } });
    });

    test("loses no turn while one host settles what the other adds to", async () => {
      const [first, second] = hosts;
      for (let round = 0; round < 20; round += 1) {
        const [accepted] = await acceptAll(first, resolvedAlert());
        const [[next]] = await Promise.all([
          acceptAll(second, resolvedAlert()),
          first.settle(accepted!.messageRow, DELIVERED),
        ]);
        expect(await dueIds(first, "message")).toEqual([next!.messageRow]);
        await second.settle(next!.messageRow, DELIVERED);
      }
      expect(await first.stats()).toMatchObject({ message: { queued: 0 }, queuedBytes: 0 });
    });

    test("a request that cannot be kept loses only itself, and is logged once however often it comes", async () => {
      await refuseInserts(store.database.sql, "bad");
      errors.length = 0;
      const outcomes = await hosts[0].accept([
        [sampleAlert({ fingerprint: "a" })],
        [sampleAlert({ fingerprint: "b" }), sampleAlert({ fingerprint: "bad" })],
        [sampleAlert({ fingerprint: "b" })],
      ]);
      for (let times = 0; times < 3; times += 1)
        await hosts[0].accept([[sampleAlert({ fingerprint: "bad" })], [resolvedAlert({ fingerprint: "c" })]]);
      expect(errors).toEqual(["A request was refused, because the state's database did not take it"]);
      await store.database.sql`drop trigger refuse on opsctl_state.outbox`;
      expect(outcomes).toMatchObject([
        { accepted: [{ issue: { status: "first" } }] },
        { refused: "state_unavailable" },
        { accepted: [{ issue: { status: "first" } }] },
      ]);
      expect(await hosts[0].stats()).toMatchObject({ message: { queued: 5 }, issue: { queued: 2 } });
    });

    test("a batch larger than one statement should be is accepted whole, in several", async () => {
      const calls = async () =>
        (await store.database.sql`select count(*)::int as n from opsctl_state.batches`)[0]!.n;
      const requests = Array.from({ length: 24 }, (_, index) => [
        resolvedAlert({ fingerprint: `f${index}`, description: "x".repeat(1_000_000) }),
      ]);
      const outcomes = await hosts[0].accept(requests);
      const fingerprints = outcomes.map((outcome) =>
        "accepted" in outcome ? outcome.accepted[0]?.alert.fingerprint : outcome.refused,
      );
      expect(fingerprints).toEqual(requests.map(([alert]) => alert!.fingerprint));
      expect(await calls()).toBe(3);
      await hosts[0].accept(Array.from({ length: 1_001 }, () => [resolvedAlert()]));
      expect(await calls()).toBe(5);
    });

    test("takes fingerprints and names that a column or an index could not hold", async () => {
      const [host] = hosts;
      for (const fingerprint of ["nul\u0000", "half\ud800", "half\udfff", "é".repeat(100_000)]) {
        const [accepted] = await acceptAll(host, sampleAlert({ fingerprint, name: fingerprint }));
        await host.settle(accepted!.messageRow, { status: "dead", code: "refused" });
        const [dead] = await host.listDead();
        expect(dead).toMatchObject({ fingerprint, alertname: fingerprint });
        expect((await host.latest(fingerprint)).message).toMatchObject({ status: "dead", code: "refused" });
        expect(await host.dropDead(null)).toBe(1);
      }
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

    test("two hosts that ask at once: one delivers", async () => {
      for (let round = 0; round < 10; round += 1) {
        await store.empty(START_MS);
        const answers = await Promise.all([...hosts, ...hosts].map((host) => host.lead()));
        expect(answers.filter((leads) => leads)).toHaveLength(2);
        expect(answers[0]).toBe(answers[2]!);
      }
    });

    test("forgets batches whose answer nobody asks for any more", async () => {
      await acceptAll(hosts[0], resolvedAlert());
      const count = async () => (await store.database.sql`select from opsctl_state.batches`).length;
      await hosts[0].prune();
      expect(await count()).toBe(1);
      await store.setClock(START_MS + DAY_MS);
      await hosts[0].prune();
      expect(await count()).toBe(0);
    });

    test("one of two hosts begins an attempt, and none beside the one that delivers", async () => {
      const [first, second] = hosts;
      for (let round = 0; round < 10; round += 1) {
        const [accepted] = await acceptAll(first, resolvedAlert({ fingerprint: `f${round}` }));
        const row = accepted!.messageRow;
        const begun = await Promise.all(hosts.map((host, at) => host.begin(row, { text: `${at}` })));
        expect(begun.toSorted()).toEqual([false, true]);
      }
      expect(await first.begunWithin("message", SECOND_MS)).toBe(10);
      const [row] = await dueIds(second, "message");
      expect(await second.lead()).toBe(true);
      // The first host was asleep, and does not know yet that it delivers no more.
      expect(await first.begin(row!, null)).toBe(false);
      expect(await second.begin(row!, null)).toBe(true);
      await store.setClock(START_MS + 15 * SECOND_MS);
      expect(await first.begin(row!, null)).toBe(true);
    });

    test("two digests at once never tell the same alert", async () => {
      const [first, second] = hosts;
      for (let round = 0; round < 10; round += 1) {
        const alerts = ["a", "b", "c"].map((fingerprint) => resolvedAlert({ fingerprint }));
        const rows = (await acceptAll(first, ...alerts)).map(({ messageRow }) => messageRow);
        const [a, b, c] = rows as [number, number, number];
        const begun = await Promise.all([
          first.begin(a, { text: "a", members: [c] }),
          second.begin(b, { text: "b", members: [c] }),
        ]);
        expect(begun.toSorted()).toEqual([false, true]);
        expect(await first.dropQueued(null)).toBe(3);
      }
    });

    test("a digest does not tell what another host is just beginning by itself", async () => {
      const { sql } = store.database;
      const alerts = ["a", "b"].map((fingerprint) => resolvedAlert({ fingerprint }));
      const [a, b] = (await acceptAll(hosts[0], ...alerts)).map(({ messageRow }) => messageRow);
      let together: Promise<boolean> | undefined;
      await sql.begin(async (tx) => {
        await tx`
          select opsctl_state.begin_attempt(${b!}::bigint, gen_random_uuid(), gen_random_uuid(), 'alone', '[]')`;
        together = hosts[1].begin(a!, { text: "together", members: [b!] });
        await untilWaiting(sql);
      });
      expect(await together!).toBe(false);
      expect(await dueIds(hosts[0], "message")).toEqual([a!, b!]);
    });

    test("what is counted agrees with what is there, whatever hosts do at once", async () => {
      const ways = fc.array(
        fc.record({ way: fc.nat(WAYS.length - 1), host: fc.nat(1), nth: fc.nat(30), fp: fc.nat(3) }),
        { minLength: 10, maxLength: 40 },
      );
      const property = fc.asyncProperty(ways, async (steps) => {
        await store.empty(START_MS);
        for (let at = 0; at < steps.length; at += 4)
          await Promise.all(
            steps.slice(at, at + 4).map(({ way, host, nth, fp }) => WAYS[way]!(hosts[host]!, nth + 1, fp)),
          );
        const totals = async () => (await store.database.sql`select * from opsctl_state.totals`)[0];
        const counted = await totals();
        await store.database.sql`select opsctl_state.recount()`;
        expect(counted).toEqual((await totals())!);
        expect(await wrongHeads(store.database.sql)).toEqual([]);
      });
      await fc.assert(property, { numRuns: 25 });
    });
  });
}

/** Until a call of a host waits for a lock that the test holds. */
async function untilWaiting(sql: postgres.Sql): Promise<void> {
  for (;;) {
    const [row] = await sql`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row!.waiting > 0) return;
  }
}

type Way = (host: State, row: number, fingerprint: number) => Promise<unknown>;

/** What hosts do, each with any row or fingerprint. */
const WAYS: readonly Way[] = [
  (host, _row, at) => host.accept([[sampleAlert({ fingerprint: `f${at}` })]]),
  (host, _row, at) =>
    host.accept([[resolvedAlert({ fingerprint: `f${at}` }), sampleAlert({ fingerprint: `f${at + 1}` })]]),
  (host, _row, at) => host.accept([[sampleAlert({ fingerprint: `f${at}`, severity: "critical" })]]),
  (host, row) => host.begin(row, { text: "one" }),
  (host, row) => host.begin(row, { text: "more", members: [row + 1, row + 3] }),
  (host, row) => host.settle(row, DELIVERED),
  (host, row) => host.settle(row, { status: "dead", code: "refused" }),
  (host, row) => host.settle(row, { status: "in_doubt", code: "timeout" }),
  (host, row) => host.settle(row, retryAfter(0, { triedMs: 1, isUnclear: true })),
  (host, row) => host.dropQueued([row]),
  (host, row) => host.dropDead([row]),
  (host, row) => host.retryDead([row]),
  (host) => host.retryDead(null),
  (host, row) => host.recordEmailed([row]),
  (host) => host.prune(),
];

/** The rows whose mark is wrong: it is on the oldest that waits of each kind and fingerprint. */
async function wrongHeads(sql: postgres.Sql): Promise<unknown[]> {
  const rows = await sql`
    select id, is_head from (
      select id, is_head, state = 'queued' and id = min(id) filter (where state = 'queued')
               over (partition by kind, issue_key) as is_oldest
      from opsctl_state.outbox) as o
    where is_head <> is_oldest`;
  return [...rows];
}

async function refuseInserts(sql: postgres.Sql, fingerprint: string): Promise<void> {
  await sql.unsafe(`
    create or replace function public.refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused by the test'; end $$;
    create trigger refuse before insert on opsctl_state.outbox
    for each row when (new.fingerprint = '${fingerprint}') execute function public.refuse();`);
}

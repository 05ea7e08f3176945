/** Several hosts on one PostgreSQL, requests that fail alone, and how much a full outbox costs. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type postgres from "postgres";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { MAJORS } from "../../../sql/support/ledger.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createStateDatabase, type StateDatabase } from "../../support/postgres-state.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, DAY_MS, DELIVERED, dueIds, SECOND_MS, START_MS } from "../../support/state-fixture.ts";

setDefaultTimeout(60_000);

const QUEUED = 20_000;

for (const major of MAJORS) {
  describe(`openPostgresState() on PostgreSQL ${major ?? "18"}`, () => {
    let store: StateDatabase;
    let hosts: [State, State];
    const open = () =>
      openPostgresState({
        url: new Secret(store.database.url),
        log: silentLog,
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

    test("a request that cannot be kept loses only itself", async () => {
      await refuseInserts(store.database.sql, "bad");
      const outcomes = await hosts[0].accept([
        [sampleAlert({ fingerprint: "a" })],
        [sampleAlert({ fingerprint: "b" }), sampleAlert({ fingerprint: "bad" })],
        [sampleAlert({ fingerprint: "b" })],
      ]);
      await store.database.sql`drop trigger refuse on opsctl_state.outbox`;
      expect(outcomes).toMatchObject([
        { accepted: [{ issue: { status: "first" } }] },
        { refused: "state_unavailable" },
        { accepted: [{ issue: { status: "first" } }] },
      ]);
      expect(await hosts[0].stats()).toMatchObject({ message: { queued: 2 }, issue: { queued: 2 } });
    });

    test("a batch larger than one statement should be is accepted whole", async () => {
      const requests = Array.from({ length: 24 }, (_, index) => [
        resolvedAlert({ fingerprint: `f${index}`, description: "x".repeat(1_000_000) }),
      ]);
      const outcomes = await hosts[0].accept(requests);
      const fingerprints = outcomes.map((outcome) =>
        "accepted" in outcome ? outcome.accepted[0]?.alert.fingerprint : outcome.refused,
      );
      expect(fingerprints).toEqual(requests.map(([alert]) => alert!.fingerprint));
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

    test("a session that planned on an empty outbox reads few rows of twenty thousand", async () => {
      const { sql } = store.database;
      await sql`vacuum analyze opsctl_state.outbox, opsctl_state.dedup`;
      // A passing autovacuum could have other statistics half way through filling them.
      for (const table of ["outbox", "dedup"])
        await sql.unsafe(`alter table opsctl_state.${table} set (autovacuum_enabled = off)`);
      const session = await sql.reserve();
      try {
        for (let i = 0; i < 12; i += 1) for (const call of CALLS) await session.unsafe(call);
        await queueMany(session);
        for (const call of CALLS) {
          await session`begin`;
          const before = await readsOf(session);
          await session.unsafe(call);
          const after = await readsOf(session);
          await session`rollback`;
          const reads = { scans: after.scans - before.scans, rows: after.rows - before.rows };
          expect([call, reads.scans, reads.rows < 100]).toEqual([call, 0, true]);
        }
      } finally {
        session.release();
      }
    });
  });
}

/** What this session has read since its counts were last published, which happens between transactions. */
async function readsOf(session: postgres.ReservedSql): Promise<{ scans: number; rows: number }> {
  const [row] = await session<[{ scans: number; rows: number }]>`
    select sum(seq_scan)::int as scans, sum(idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
    where schemaname = 'opsctl_state' and relname in ('outbox', 'dedup')`;
  return row;
}

/** Calls, each for a row or fingerprint in the middle of many. */
const CALLS = [
  "select count(*) from opsctl_state.due('message', 8, '[10001]', 0)",
  "select count(*) from opsctl_state.due('issue', 8, '[]', 2000)",
  "select opsctl_state.settle(10001, 'retry', 1000, 'timeout', null, null)",
  "select opsctl_state.settle(10002, 'delivered', null, null, null, null)",
  "select opsctl_state.settle(10003, 'dead', null, 'refused', null, null)",
  `select opsctl_state.accept(gen_random_uuid(), '[[{"priority":1,"issue_key":"issue:new","fingerprint":"new",
    "squad":"infra","alertname":null,"alert":"{}","bytes":2,"firing":true}]]', 1000000, 1000000000, 1800000)`,
  "select * from opsctl_state.stats()",
  "select * from opsctl_state.latest('issue:f300')",
  "select opsctl_state.prune_outbox(1000, 1000, 5000)",
  "select opsctl_state.prune_dedup()",
];

/** Half of them of one fingerprint, the others of a thousand; every fourth is an issue that waits for its message. */
async function queueMany(sql: postgres.ReservedSql): Promise<void> {
  // Not truncated, which would make the session forget its plans.
  await sql`delete from opsctl_state.outbox`;
  await sql`delete from opsctl_state.dedup`;
  await sql`
    with rows as (
      select n, case when n % 4 = 0 then 'issue' else 'message' end as kind,
             case when n % 2 = 0 then 'issue:noisy' else 'issue:f' || (n / 4) % 1000 end as key
      from generate_series(1, ${QUEUED}::int) as n)
    insert into opsctl_state.outbox
      (id, kind, is_head, priority, issue_key, fingerprint, squad, alert, bytes, accepted_at, age_from, waits_from, due_at,
       message_row, claim_token, claimed_at)
    overriding system value
    select n, kind, n = min(n) over (partition by kind, key), 1, key, substr(key, 7), 'infra', '{}', 2,
           ${START_MS}::bigint, ${START_MS}::bigint, ${START_MS}::bigint, ${START_MS}::bigint,
           case when kind = 'issue' then n - 1 end, case when kind = 'issue' then gen_random_uuid() end,
           case when kind = 'issue' then ${START_MS}::bigint end
    from rows`;
  await sql`
    insert into opsctl_state.dedup (key, token, claimed_at, ttl_ms, expires_at)
    select 'issue:f' || n, gen_random_uuid(), ${START_MS}::bigint, 1800000, ${START_MS}::bigint + 1800000
    from generate_series(1, ${QUEUED / 2}::int) as n`;
  await sql`select opsctl_state.recount()`;
  await sql`select setval(pg_get_serial_sequence('opsctl_state.outbox', 'id'), ${QUEUED}::bigint)`;
}

async function refuseInserts(sql: postgres.Sql, fingerprint: string): Promise<void> {
  await sql.unsafe(`
    create or replace function public.refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused by the test'; end $$;
    create trigger refuse before insert on opsctl_state.outbox
    for each row when (new.fingerprint = '${fingerprint}') execute function public.refuse();`);
}

/** How much the database reads for one call, when the statistics know nothing of what waits. */
import { expect, test } from "bun:test";
import type postgres from "postgres";
import { createStateDatabase } from "../../support/postgres-state.ts";
import { START_MS } from "../../support/state-fixture.ts";

const QUEUED = 30_000;
const GIVEN_UP = 5_000;
/** Less than any index of what waits has, and than what was given up. */
const FEW = 120;

/** What was tried without the state. */
const TRIED = {
  text: "t",
  attempts: 1,
  unclear: 1,
  begun_for_ms: 60_000,
  unanswered_for_ms: null,
  delay_ms: 5_000,
};

/** Calls, each for a row or fingerprint in the middle of many, and the most pages that those for many rows may read. */
const CALLS: readonly [call: string, most?: number][] = [
  ["count(*) from opsctl_state.due_rows('message', 8, '[15001]', 0)"],
  ["count(*) from opsctl_state.due_rows('issue', 8, '[]', 2000)", 500],
  ["count(*) from opsctl_state.due_rows('comment', 8, '[]', 0)"],
  ["count(*) from opsctl_state.digestible('[]', 40, 1000)", 800],
  ["opsctl_state.begin_attempt(15001, gen_random_uuid(), gen_random_uuid(), 't', '[15002,15003]')"],
  ["opsctl_state.begin_attempt(15001, gen_random_uuid(), gen_random_uuid(), 'u', '[]')"],
  [`opsctl_state.take_up(15009, '${JSON.stringify(TRIED)}')`],
  ["count(*) from opsctl_state.members_of(15001)"],
  ["opsctl_state.settle(15005, gen_random_uuid(), 'retry', 1000, 'x', 5, true, false, null, null)"],
  ["opsctl_state.settle(15006, gen_random_uuid(), 'delivered', null, null, null, false, false, 'r', null)"],
  ["opsctl_state.settle(15007, gen_random_uuid(), 'dead', null, 'x', null, false, false, null, null)"],
  ["opsctl_state.settle(15008, gen_random_uuid(), 'dead', null, 'x', null, false, false, null, null)"],
  ["opsctl_state.settle(15012, gen_random_uuid(), 'delivered', null, null, null, false, false, null, 'u')"],
  [accepting("new", true)],
  [accepting("tried", true, { issue_tried_at: START_MS - 1, tried: TRIED })],
  [accepting("f15001", false)],
  ["* from opsctl_state.stats()"],
  ["* from opsctl_state.latest('issue:f15001')"],
  ["opsctl_state.prune_old(1000, 1000, 5000)"],
  ["opsctl_state.prune_memory(1000, 1000)"],
  ["opsctl_state.prune_dedup()"],
  ["count(*) from opsctl_state.unheard(1000, 1000)"],
  [`count(*) from opsctl_state.unacknowledged('["none"]')`],
  ["count(*) from opsctl_state.recent(200)", 800],
  [`count(*) from opsctl_state.held_references('message', '["a","b"]')`],
  ["count(*) from opsctl_state.delivered_between(86400000, 600000, 500)"],
  ["opsctl_state.begun_within('message', 60000)"],
  ["opsctl_state.record_emailed('[15001]')"],
  ["opsctl_state.retry_dead('[30001]', 1800000)"],
  ["opsctl_state.drop_dead('[30002]')"],
  ["opsctl_state.drop_queued('[15001,15004]')"],
  // As hosts of before call them.
  ["count(*) from opsctl_state.due('message', 8, '[15001]', 0)"],
  ["opsctl_state.settle(15006, 'delivered', null, null, null, null)"],
];

/** What looks for rows to try, when all were tried: of those that are due a few hundred are sorted. */
const FINDING: typeof CALLS = CALLS.filter(([call]) => /\.(turns|due|digestible)\(/.test(call)).map(
  ([call]) => [call, 600],
);

/** `delivered`: analysed when all was delivered; `emptied`: when nothing was left, so that all plans cost the same. */
const CASES: readonly [number | undefined, "delivered" | "emptied"][] = [
  [undefined, "delivered"],
  [undefined, "emptied"],
  [15, "emptied"],
];

for (const [major, before] of CASES) {
  test(`each call reads few pages of a full outbox, statistics stale (${before}) and fresh, on PostgreSQL ${major ?? "18"}`, async () => {
    const store = await createStateDatabase(major);
    await store.setClock(START_MS);
    const { sql } = store.database;
    // A passing autovacuum could bring other statistics half way.
    for (const table of ["outbox", "dedup", "episodes", "attempts", "batches"])
      await sql.unsafe(`alter table opsctl_state.${table} set (autovacuum_enabled = off)`);
    await fill(sql, 3_000, "delivered");
    if (before === "emptied") await empty(sql);
    await sql`analyze`;
    const session = await sql.reserve();
    // Plans that a connection keeps are of before, too.
    for (const [call] of CALLS) await pagesOf(session, call);
    await empty(sql);
    await fill(sql, QUEUED, "queued");
    await expectFewPages(session);
    await sql`analyze`;
    await expectFewPages(session);
    // All were tried: first each waits for its next attempt, then all are due again.
    await sql`update opsctl_state.outbox set attempts = 1, due_at = due_at + 300000 where settled_at is null`;
    await expectFewPages(session, FINDING);
    await store.setClock(START_MS + 300_000);
    await expectFewPages(session, FINDING);
    session.release();
    await store.database.drop();
  });
}

async function empty(sql: postgres.Sql): Promise<void> {
  for (const table of ["outbox", "dedup", "episodes"]) await sql.unsafe(`delete from opsctl_state.${table}`);
}

async function expectFewPages(session: postgres.ReservedSql, calls = CALLS): Promise<void> {
  for (const [call, most = FEW] of calls) {
    // Once without counting: it finds the marks of the rows that were deleted, or makes its plan anew.
    await pagesOf(session, call);
    const pages = await pagesOf(session, call);
    expect([call, pages, pages <= most]).toEqual([call, pages, true]);
  }
}

function accepting(fingerprint: string, firing: boolean, before: object = {}): string {
  const alert = {
    priority: 2,
    issue_key: `issue:${fingerprint}`,
    fingerprint,
    squad: "infra",
    alertname: null,
    alert: "{}",
    bytes: 2,
    firing,
    resolved: !firing,
    starts_at: "2026",
    shown: "{}",
    ...before,
  };
  const requests = JSON.stringify([[alert]]);
  return `opsctl_state.accept(gen_random_uuid(), '${requests}', 1000000, 1000000000, 1800000, true)`;
}

/** How many pages a call reads; what it does is undone. */
async function pagesOf(session: postgres.ReservedSql, call: string): Promise<number> {
  await session`begin`;
  const [row] = await session.unsafe(`explain (analyze, buffers, format json) select ${call}`);
  await session`rollback`;
  const [{ Plan: plan }] = row!["QUERY PLAN"];
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

/** Rows of as many fingerprints, every fourth an issue that waits for its message; behind those, dead ones. */
async function fill(sql: postgres.Sql, count: number, state: "queued" | "delivered"): Promise<void> {
  const isQueued = state === "queued";
  await sql`
    insert into opsctl_state.outbox
      (id, kind, state, is_head, priority, issue_key, fingerprint, squad, alert, bytes, accepted_at, age_from, waits_from,
       due_at, message_row, claim_token, claimed_at, settled_at, shown, reference)
    overriding system value
    select n, kind, ${state}, ${isQueued}, 2, 'issue:f' || n, 'f' || n, 'infra', case when ${isQueued} then '{}' end, 2,
           ${START_MS}::bigint, ${START_MS}::bigint, ${START_MS}::bigint, ${START_MS}::bigint,
           case when kind = 'issue' then n - 1 end, case when kind = 'issue' then gen_random_uuid() end,
           case when kind = 'issue' then ${START_MS}::bigint end, case when not ${isQueued} then ${START_MS}::bigint end,
           case when kind = 'message' then '{}' end, case when not ${isQueued} then 'r' || n end
    from (select n, case when n % 4 = 0 then 'issue' else 'message' end as kind
          from generate_series(1, ${count}::int) as n) as rows`;
  if (isQueued)
    await sql`
      insert into opsctl_state.outbox
        (id, kind, state, priority, issue_key, fingerprint, squad, alert, bytes, accepted_at, age_from, waits_from, due_at,
         settled_at, shown, code)
      overriding system value
      select ${count}::int + n, 'message', 'dead', 2, 'issue:f' || n, 'f' || n, 'infra', '{}', 2, at, at, at, at, at, '{}', 'x'
      from generate_series(1, ${GIVEN_UP}::int) as n cross join (select ${START_MS}::bigint as at) as clock`;
  await sql`
    insert into opsctl_state.dedup (key, token, claimed_at, ttl_ms, expires_at)
    select 'issue:f' || n, gen_random_uuid(), ${START_MS}::bigint, 1800000, ${START_MS}::bigint + 1800000
    from generate_series(1, ${count}::int) as n`;
  await sql`
    insert into opsctl_state.episodes (issue_key, starts_at, is_firing, seen_at)
    select 'issue:f' || n, '2025', true, ${START_MS}::bigint from generate_series(1, ${count}::int) as n`;
  await sql`select setval(pg_get_serial_sequence('opsctl_state.outbox', 'id'), ${count + GIVEN_UP}::bigint)`;
  await sql`select opsctl_state.recount()`;
}

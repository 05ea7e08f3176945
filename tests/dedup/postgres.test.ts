import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "../support/postgres.ts";
import { ODD_TEXTS } from "../webhook/support/odd-texts.ts";
import { createStateDatabase, type StateDatabase } from "../webhook/support/postgres-state.ts";
import { postgresDedup } from "./support/postgres-dedup.ts";
import { type DedupFixture, dedupSuite, START_MS } from "./support/suite.ts";

const TTL_MS = 30 * 60_000;

for (const major of [undefined, 15]) {
  const name = `postgresDedup() on PostgreSQL ${major ?? "18"}`;
  let state: StateDatabase;

  describe(name, () => {
    beforeAll(async () => {
      state = await createStateDatabase(major);
    });
    afterAll(() => state.database.drop());
    dedupSuite(name, () => openFixture(state));

    test("takes texts that PostgreSQL cannot keep, each as its own", async () => {
      await state.empty(START_MS);
      const dedup = postgresDedup(state.database.sql);
      for (const key of ODD_TEXTS) {
        const claim = await dedup.claim(key, TTL_MS);
        expect(claim.status).toBe("first");
        if (claim.status === "first")
          expect(await dedup.confirm(key, claim.token, { value: key })).toBe(true);
      }
      for (const key of ODD_TEXTS)
        expect(await dedup.claim(key, TTL_MS)).toMatchObject({ status: "duplicate", value: key });
      expect(await dedup.release("a", "no\u0000token")).toBe(false);
    });

    test("a claim waits for another's transaction, and is first when that is rolled back", async () => {
      await state.empty(START_MS);
      const { sql } = state.database;
      for (const outcome of ["duplicate", "first"]) {
        let second: ReturnType<ReturnType<typeof postgresDedup>["claim"]> | undefined;
        const first = sql.begin(async (tx) => {
          expect((await postgresDedup(tx).claim(outcome, TTL_MS)).status).toBe("first");
          second = postgresDedup(sql).claim(outcome, TTL_MS);
          Promise.resolve(second).catch(() => {});
          await untilWaiting(state);
          if (outcome === "first") throw new Error("rolled back");
        });
        await first.catch(() => {});
        expect((await second!).status).toBe(outcome as "first");
      }
    });

    test("an expired claim is taken over by one of 50 in two pools", async () => {
      await state.empty(START_MS);
      const pools = [1, 2].map(() => connect(state.database.url, 5));
      await postgresDedup(pools[0]!).claim("storm", TTL_MS);
      await state.setClock(START_MS + TTL_MS);
      const claims = await Promise.all(
        Array.from({ length: 50 }, (_, index) => postgresDedup(pools[index % 2]!).claim("storm", TTL_MS)),
      );
      expect(claims.filter(({ status }) => status === "first")).toHaveLength(1);
      await Promise.all(pools.map((pool) => pool.end()));
    });
  });
}

async function untilWaiting({ database }: StateDatabase): Promise<void> {
  for (;;) {
    const [row] = await database.sql`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row!.waiting > 0) return;
  }
}

async function openFixture(state: StateDatabase): Promise<DedupFixture> {
  await state.empty(START_MS);
  const { sql, url } = state.database;
  const others: postgres.Sql[] = [];
  const another = async () => {
    const pool = connect(url, 5);
    others.push(pool);
    return postgresDedup(pool);
  };
  return {
    dedup: postgresDedup(sql),
    setClock: state.setClock,
    another,
    reopen: another,
    async rolledBack(work) {
      const undone = new Error("rolled back on purpose");
      await sql
        .begin(async (tx) => {
          await work(postgresDedup(tx));
          throw undone;
        })
        .catch((error) => {
          if (error !== undone) throw error;
        });
    },
    async countEntries() {
      const [row] = await sql`select count(*)::int as count from opsctl_state.dedup`;
      return row!.count;
    },
    async close() {
      await Promise.all(others.map((pool) => pool.end()));
    },
  };
}

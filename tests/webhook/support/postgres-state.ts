/** A database for tests of the state on PostgreSQL: opsctl's schema in it, and a clock that stands still. */
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { ensureStateSchema } from "../../../lib/webhook/state/postgres/schema.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

/** Such a database; `empty` removes every row. */
export type StateDatabase = {
  database: TestDatabase;
  setClock(ms: number): Promise<void>;
  empty(clockMs: number): Promise<void>;
};

const TABLES = ["outbox", "dedup", "batches", "lease", "episodes", "attempts", "holds", "hours", "email"];

/** Makes such a database on the packaged server of a version. */
export async function createStateDatabase(major?: number): Promise<StateDatabase> {
  const database = await (await sharedPostgres(major)).createDatabase({ migrated: false, appSchema: false });
  const { sql } = database;
  const opened = await openDatabase(new Secret(database.url), { max: 1, applicationName: "state-tests" });
  await ensureStateSchema(opened.sql);
  await opened.close();
  await standStill(database);
  const setClock = async (ms: number) => void (await sql`update public.test_clock set ms = ${ms}::bigint`);
  return {
    database,
    setClock,
    async empty(clockMs) {
      // For so few rows a tenth of the time of `truncate`, which makes new files.
      await sql.unsafe(`
        ${TABLES.map((table) => `delete from opsctl_state.${table};`).join(" ")}
        alter table opsctl_state.outbox alter column id restart;
        update opsctl_state.totals set detour_emailed = 0, detour_given_up = 0;
        select opsctl_state.recount();`);
      await setClock(clockMs);
    },
  };
}

/** Replaces the schema's clock by a row that only tests change. */
export async function standStill({ sql }: Pick<TestDatabase, "sql">): Promise<void> {
  await sql.unsafe(`
    create table public.test_clock (ms bigint not null);
    insert into public.test_clock values (0);
    create or replace function opsctl_state.now_ms() returns bigint
    language sql volatile set search_path = '' as $$ select ms from public.test_clock $$;`);
}

/** A database for tests of the state on PostgreSQL: opsctl's schema in it, and a clock that stands still. */
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { openPostgresStore } from "../../../lib/webhook/store/postgres/store.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { silentLog } from "../../support/silent-log.ts";

/** Such a database; `empty` makes it what it was when it was new. */
export type StateDatabase = {
  database: TestDatabase;
  setClock(ms: number): Promise<void>;
  empty(clockMs: number): Promise<void>;
};

/** Makes such a database on the packaged server of a version. */
export async function createStateDatabase(major?: number): Promise<StateDatabase> {
  const database = await (await sharedPostgres(major)).createDatabase({ migrated: false, appSchema: false });
  const { sql } = database;
  const url = new Secret(database.url);
  const store = await openPostgresStore({ url, log: silentLog, applicationName: "state-tests" });
  await store.close();
  await sql.unsafe(`
    create table public.test_clock (ms bigint not null);
    insert into public.test_clock values (0);
    create or replace function opsctl_state.now_ms() returns bigint
    language sql stable set search_path = '' as $$ select ms from public.test_clock $$;`);
  const setClock = async (ms: number) => void (await sql`update public.test_clock set ms = ${ms}::bigint`);
  return {
    database,
    setClock,
    async empty(clockMs) {
      // For so few rows a tenth of the time of `truncate`.
      await sql.unsafe(`
        delete from opsctl_state.alert; delete from opsctl_state.outbox;
        delete from opsctl_state.meta where key <> 'version';`);
      await setClock(clockMs);
    },
  };
}

/** Lets the database refuse the first few rows of a fingerprint with an error of this code. */
export async function refuseInserts(
  sql: TestDatabase["sql"],
  fingerprint: string,
  { code, times }: { code: string; times: number },
): Promise<void> {
  await sql.unsafe(`
    create sequence if not exists public.refused;
    alter sequence public.refused restart;
    create or replace function public.refuse() returns trigger language plpgsql as $$
    begin
      if nextval('public.refused') <= ${times} then raise exception 'refused' using errcode = '${code}'; end if;
      return new;
    end $$;
    create or replace trigger refuse before insert on opsctl_state.outbox
    for each row when (new.fingerprint = '${fingerprint}') execute function public.refuse();`);
}

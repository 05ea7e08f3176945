import { expect, test } from "bun:test";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { PASSWORD, sharedPostgres, type TestDatabase } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { asLogin } from "./support/as-login.ts";

/** Runs `work` on a migrated database whose application tables all have row security, as hosted platforms set it. */
async function withRowSecurity(work: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await (await sharedPostgres()).createDatabase();
  try {
    await database.sql.unsafe(`
      do $$ declare t regclass; begin
        for t in select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
          execute format('alter table %s enable row level security', t);
        end loop;
      end $$`);
    await work(database);
  } finally {
    await database.drop();
  }
}

const hiddenFrom = (database: TestDatabase, login: string) =>
  asLogin(database, login, async (sql) =>
    (await checkReadiness(sql)).map(({ code, message, hint }) => {
      expect(code).toBe("DATABASE_ROW_SECURITY");
      return [message.replace("Cannot use the database: row security hides rows of ", ""), hint];
    }),
  );

test("checkReadiness() accepts row security that service_role and the superuser bypass", async () => {
  await withRowSecurity(async (database) => {
    expect(await checkReadiness(database.sql)).toEqual([]);
    await database.sql.unsafe(`alter role service_role login password '${PASSWORD}'`);
    expect(await hiddenFrom(database, "service_role")).toEqual([]);
    await database.sql.unsafe("alter role service_role nologin");
  });
});

test("checkReadiness() names each table that row security hides from a mere member; the hint mends it", async () => {
  await withRowSecurity(async (database) => {
    const login = await newLogin(database.sql, "grant service_role to");
    const hidden = await hiddenFrom(database, login);
    expect(hidden.map(([table]) => table)).toEqual(
      [
        "messaging_instances",
        "resend_email_events",
        "resend_email_sends",
        "social_account_scores",
        "social_channel_analyses",
        "social_connections",
        "tenant_config",
        "users",
      ].map((table) => `public.${table} from the login ${login}`),
    );
    for (const [, hint] of hidden) expect(hint).toBe(`alter role ${login} bypassrls;`);
    await database.sql.unsafe(hidden[0]![1]!);
    expect(await hiddenFrom(database, login)).toEqual([]);
  });
});

test("checkReadiness() names the tables that row security hides from the functions' owner", async () => {
  await withRowSecurity(async (database) => {
    const owner = await newLogin(database.sql, "grant all on all tables in schema public to");
    await database.sql.unsafe(`
      grant create, usage on schema public to ${owner};
      do $$ declare f regprocedure; t regclass; begin
        for f in select oid from pg_proc where pronamespace = 'public'::regnamespace and prosecdef loop
          execute format('alter function %s owner to ${owner}', f);
        end loop;
        for t in select oid from pg_class where relname like 'weekly_performance%' and relkind = 'r' loop
          execute format('alter table %s owner to ${owner}', t);
        end loop;
      end $$`);
    const hidden = (tables: string[]) =>
      tables.map((table) => [
        `public.${table} from ${owner}, who owns the functions`,
        `alter role ${owner} bypassrls;`,
      ]);
    const login = await newLogin(database.sql, "grant service_role to");
    await database.sql.unsafe(`alter role ${login} bypassrls`);
    expect(await hiddenFrom(database, login)).toEqual(
      hidden(["credit_wallets", "tenants", "timeline_entries", "users"]),
    );

    // An owner sees its own tables, unless row security is forced.
    await database.sql.unsafe(`
      alter table credit_wallets owner to ${owner};
      alter table tenants owner to ${owner};
      alter table users owner to ${owner};
      alter table timeline_entries owner to ${owner};`);
    expect(await hiddenFrom(database, login)).toEqual([]);
    await database.sql`alter table tenants force row level security`;
    expect(await hiddenFrom(database, login)).toEqual(hidden(["tenants"]));
    await database.sql.unsafe(hidden(["tenants"])[0]![1]!);
    expect(await hiddenFrom(database, login)).toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
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

const hiddenFrom = (database: TestDatabase, login: string, major?: number) =>
  asLogin(
    database,
    login,
    async (sql) =>
      (await checkReadiness(sql)).map(({ code, message, hint }) => {
        expect(code).toBe("DATABASE_ROW_SECURITY");
        return [message.replace("Cannot use the database: row security hides rows of ", ""), hint];
      }),
    major,
  );

test("checkReadiness() accepts row security that service_role and the superuser bypass", async () => {
  await withRowSecurity(async (database) => {
    expect(await checkReadiness(database.sql)).toEqual([]);
    await database.sql.unsafe(`alter role service_role login password '${PASSWORD}'`);
    expect(await hiddenFrom(database, "service_role")).toEqual([]);
    await database.sql.unsafe("alter role service_role nologin");
  });
});

test("checkReadiness() names each table that row security hides from a mere member; the hint fixes it", async () => {
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
    for (const [, hint] of hidden) expect(hint).toBe("alter role <login> bypassrls;");
    await database.sql.unsafe(`alter role ${login} bypassrls`);
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
        "alter role <owner> bypassrls;",
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
    await database.sql.unsafe(`alter role ${owner} bypassrls`);
    expect(await hiddenFrom(database, login)).toEqual([]);
  });
});

/** Puts a view in the place of a table of the application; its rows are where row security is on. */
async function replaceByView(database: TestDatabase, table: string, rest = ""): Promise<void> {
  await database.sql.unsafe(`
    create schema if not exists app;
    alter table ${table} set schema app;
    alter table app.${table} enable row level security;
    create view public.${table} ${rest} as select * from app.${table};
    grant select on public.${table}, app.${table} to service_role;
    grant usage on schema app to service_role`);
}

for (const major of [undefined, 15]) {
  describe(`checkReadiness() on PostgreSQL ${major ?? "18"}`, () => {
    test("looks through views at who reads the rows, as the database itself does", async () => {
      const database = await (await sharedPostgres(major)).createDatabase();
      const { sql } = database;
      const login = await newLogin(sql, "grant service_role to");
      const [owner, other] = [await newLogin(sql), await newLogin(sql)];
      await replaceByView(database, "tenant_config");
      await replaceByView(database, "resend_email_sends", "with (security_invoker)");
      await replaceByView(database, "resend_email_events", "with (security_invoker = off)");
      await replaceByView(database, "messaging_instances");
      await replaceByView(database, "social_account_scores", "with (security_invoker = true)");
      await sql.unsafe(`
        -- An owner who may not see the rows, an owner who has them all, and a view that asks another.
        grant create on schema public, app to ${owner}, ${other};
        grant select on all tables in schema app to ${owner}, ${other};
        grant usage on schema app to ${owner}, ${other};
        alter view messaging_instances owner to ${owner};
        alter view resend_email_events owner to ${other};
        alter table app.resend_email_events owner to ${other};
        alter view social_account_scores rename to scores;
        create view social_account_scores as select * from scores;
        grant select on social_account_scores to service_role`);

      const expected = [
        [`public.messaging_instances from ${owner}, who owns the view`, "alter role <owner> bypassrls;"],
        [`public.resend_email_sends from the login ${login}`, "alter role <login> bypassrls;"],
        [`public.social_account_scores from the login ${login}`, "alter role <login> bypassrls;"],
      ];
      expect((await hiddenFrom(database, login, major)).toSorted()).toEqual(expected);
      // The database refuses exactly these when it may hide nothing.
      const refused = await asLogin(
        database,
        login,
        async (tx) => {
          const tables = ["messaging_instances", "resend_email_events", "resend_email_sends"];
          const found: string[] = [];
          for (const table of [...tables, "social_account_scores", "tenant_config"])
            await tx
              .begin(async (asked) => {
                await asked`set local row_security = off`;
                await asked.unsafe(`select * from ${table}`);
              })
              .catch(() => found.push(table));
          return found;
        },
        major,
      );
      expect(refused).toEqual(["messaging_instances", "resend_email_sends", "social_account_scores"]);

      for (const role of [owner, login]) await sql.unsafe(`alter role ${role} bypassrls`);
      expect(await hiddenFrom(database, login, major)).toEqual([]);
      await database.drop();
    });

    test("looks through the views that the functions of opsctl read", async () => {
      const database = await (await sharedPostgres(major)).createDatabase();
      const owner = await newLogin(database.sql, "grant usage on schema public to");
      await replaceByView(database, "credit_wallets");
      await database.sql.unsafe(`
        grant create on schema public, app to ${owner};
        grant usage on schema app to ${owner};
        grant select on app.credit_wallets to ${owner};
        alter view credit_wallets owner to ${owner}`);
      expect(await checkReadiness(database.sql)).toEqual([
        {
          code: "DATABASE_ROW_SECURITY",
          message: `Cannot use the database: row security hides rows of public.credit_wallets from ${owner}, who owns the view`,
          hint: "alter role <owner> bypassrls;",
        },
      ]);
      await database.drop();
    });
  });
}

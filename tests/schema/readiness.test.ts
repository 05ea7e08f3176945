import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../lib/schema/migrations.ts";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { PASSWORD, sharedPostgres, type TestDatabase } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { asLogin } from "./support/as-login.ts";

/** Runs `work` on a migrated database of its own. */
async function withDatabase(
  work: (database: TestDatabase) => Promise<void>,
  { migrated = true, major }: { migrated?: boolean; major?: number } = {},
): Promise<void> {
  const database = await (await sharedPostgres(major)).createDatabase({ migrated });
  try {
    await work(database);
  } finally {
    await database.drop();
  }
}

const problemsOf = (database: TestDatabase, login: string, major?: number) =>
  asLogin(database, login, checkReadiness, major);

/** The hints for a login; run as SQL by the superuser, they make it ready. */
async function fixedByItsHints(database: TestDatabase, login: string, major?: number): Promise<string[]> {
  const problems = await problemsOf(database, login, major);
  for (const problem of problems) await database.sql.unsafe(problem.hint);
  expect(await problemsOf(database, login, major)).toEqual([]);
  return problems.map((problem) => problem.hint).toSorted();
}

test("checkReadiness() has nothing to say to a superuser, service_role itself, a member, and the owner", async () => {
  await withDatabase(async (database) => {
    expect(await checkReadiness(database.sql)).toEqual([]);

    await database.sql.unsafe(`alter role service_role login password '${PASSWORD}'`);
    expect(await problemsOf(database, "service_role")).toEqual([]);
    await database.sql.unsafe("alter role service_role nologin");

    const member = await newLogin(database.sql, "grant service_role to");
    expect(await problemsOf(database, member)).toEqual([]);

    const owner = await newLogin(database.sql);
    await database.sql.unsafe(`grant postgres to ${owner}`);
    expect(await problemsOf(database, owner)).toEqual([]);
  });
});

test("checkReadiness() reads the catalog only: two statements, nothing locked, nothing written", async () => {
  await withDatabase(async (database) => {
    await database.sql.begin(async (tx) => {
      await tx`lock table tenants, users, weekly_performance_reports in access exclusive mode`;
      await tx`insert into tenants (name) values ('held')`;
      const member = await newLogin(database.sql, "grant service_role to");
      let statements = 0;
      await asLogin(database, member, async (sql) => {
        sql.options.debug = () => {
          statements += 1;
        };
        await sql.begin("read only", async (readOnly) => {
          statements = 0;
          expect(await checkReadiness(readOnly as never)).toEqual([]);
          expect(statements).toBe(2);
        });
      });
    });
  });
});

test("checkReadiness() on a database without opsctl's part says one thing", async () => {
  await withDatabase(
    async ({ sql }) => {
      expect(await checkReadiness(sql)).toEqual([
        {
          code: "DATABASE_NOT_MIGRATED",
          message: "Cannot use the database: opsctl's tables and functions are missing",
          hint: "Run opsctl migrate, with the login of the schema's owner",
        },
      ]);
    },
    { migrated: false },
  );
});

test("checkReadiness() names a function that is missing, or that has other arguments", async () => {
  await withDatabase(async ({ sql }) => {
    await sql`drop function list_weekly_performance_report_scopes(uuid)`;
    await sql`create function list_weekly_performance_report_scopes() returns void language sql as ''`;
    expect(await checkReadiness(sql)).toEqual([
      {
        code: "DATABASE_NOT_MIGRATED",
        message:
          "Cannot use the database: function public.list_weekly_performance_report_scopes(uuid) is missing",
        hint: "Run opsctl migrate, with the login of the schema's owner",
      },
    ]);
  });
});

test("checkReadiness() names pending, edited and unknown migrations", async () => {
  await withDatabase(async ({ sql }) => {
    await sql`delete from opsctl_migrations where version = 4`;
    await sql`update opsctl_migrations set checksum = repeat('0', 64) where version = 2`;
    await sql`insert into opsctl_migrations (version, name, checksum) values (900, '0900_later', repeat('0', 64))`;
    expect((await checkReadiness(sql)).map(({ code, message }) => [code, message])).toEqual([
      ["DATABASE_NOT_MIGRATED", `Cannot use the database: not migrated to ${MIGRATIONS[3]!.name}`],
      ["DATABASE_NOT_MIGRATED", `Cannot use the database: applied from another text ${MIGRATIONS[1]!.name}`],
      ["DATABASE_NOT_MIGRATED", "Cannot use the database: migrated by another opsctl to 0900_later"],
    ]);
  });
});

test("checkReadiness() names every missing table and column of the application, and never tenants.status", async () => {
  await withDatabase(async ({ sql }) => {
    await sql`alter table tenants drop column status`;
    await sql`alter table users drop column phone, drop column email`;
    await sql`drop table messaging_instances, resend_email_events`;
    expect((await checkReadiness(sql)).map(({ code, message }) => [code, message])).toEqual([
      ["DATABASE_SCHEMA_MISSING", "Cannot use the database: table public.messaging_instances is missing"],
      ["DATABASE_SCHEMA_MISSING", "Cannot use the database: table public.resend_email_events is missing"],
      ["DATABASE_SCHEMA_MISSING", "Cannot use the database: table public.users lacks email, phone"],
    ]);
  });
});

test("checkReadiness() asks a login without any right to become a member, and nothing else", async () => {
  await withDatabase(async (database) => {
    const login = await newLogin(database.sql);
    expect(await fixedByItsHints(database, login)).toEqual([
      `grant service_role to ${login} with inherit true;`,
    ]);
  });
});

test("checkReadiness() quotes a login whose name needs it", async () => {
  await withDatabase(async (database) => {
    const login = `Weekly "${database.name}"`;
    const quoted = `"Weekly ""${database.name}"""`;
    await database.sql.unsafe(`create role ${quoted} login password '${PASSWORD}'`);
    expect(await fixedByItsHints(database, login)).toEqual([
      `grant service_role to ${quoted} with inherit true;`,
    ]);
  });
});

test("checkReadiness() asks a member that does not inherit to inherit", async () => {
  await withDatabase(async (database) => {
    const login = await newLogin(database.sql);
    await database.sql.unsafe(`grant service_role to ${login} with inherit false`);
    expect(await fixedByItsHints(database, login)).toEqual([
      `grant service_role to ${login} with inherit true;`,
    ]);
  });
});

test("checkReadiness() words the membership as PostgreSQL 15 knows it", async () => {
  const major = 15;
  await withDatabase(
    async (database) => {
      const stranger = await newLogin(database.sql);
      expect(await fixedByItsHints(database, stranger, major)).toEqual([
        `grant service_role to ${stranger}; alter role ${stranger} inherit;`,
      ]);
      const member = await newLogin(database.sql, "grant service_role to");
      await database.sql.unsafe(`alter role ${member} noinherit`);
      expect(await fixedByItsHints(database, member, major)).toEqual([
        `grant service_role to ${member}; alter role ${member} inherit;`,
      ]);
    },
    { major },
  );
});

test("checkReadiness() names what service_role itself lacks", async () => {
  await withDatabase(async (database) => {
    await database.sql.unsafe(`
      revoke select on users, tenant_config from service_role;
      grant select (id, tenant_id, phone) on users to service_role;
      revoke execute on function settle_weekly_performance_delivery from service_role;`);
    const login = await newLogin(database.sql, "grant service_role to");
    expect(await fixedByItsHints(database, login)).toEqual([
      "grant execute on function public.settle_weekly_performance_delivery(uuid, uuid, text, text, text) to service_role;",
      "grant select (email) on public.users to service_role;",
      "grant select on public.tenant_config to service_role;",
    ]);
  });
});

test("checkReadiness() names first a missing membership, then what service_role lacks", async () => {
  await withDatabase(async (database) => {
    await database.sql`revoke select on tenant_config from service_role`;
    const login = await newLogin(database.sql);
    const [membership, ...others] = await problemsOf(database, login);
    expect([membership?.hint, others]).toEqual([`grant service_role to ${login} with inherit true;`, []]);
    await database.sql.unsafe(membership!.hint);
    expect(await fixedByItsHints(database, login)).toEqual([
      "grant select on public.tenant_config to service_role;",
    ]);
  });
});

test("checkReadiness() asks for the membership where single grants would leave every row hidden", async () => {
  await withDatabase(async (database) => {
    const login = await newLogin(
      database.sql,
      "grant execute on all functions in schema public to",
      "grant select on all tables in schema public to",
    );
    expect(await fixedByItsHints(database, login)).toEqual([
      `grant service_role to ${login} with inherit true;`,
    ]);
  });
});

test("checkReadiness() accepts single grants of a login that bypasses row security, and names what is missing", async () => {
  await withDatabase(async (database) => {
    const login = await newLogin(
      database.sql,
      "grant execute on all functions in schema public to",
      "grant select on all tables in schema public to",
    );
    await database.sql.unsafe(
      `alter role ${login} bypassrls; revoke select on social_connections from ${login}`,
    );
    expect(await fixedByItsHints(database, login)).toEqual([
      `grant select on public.social_connections to ${login};`,
    ]);
  });
});

test("checkReadiness() names what the functions' owner lacks", async () => {
  await withDatabase(async (database) => {
    const owner = await newLogin(database.sql);
    await database.sql.unsafe(`
      grant usage, create on schema public to ${owner};
      do $$ declare f regprocedure; begin
        for f in select oid from pg_proc where pronamespace = 'public'::regnamespace and prosecdef loop
          execute format('alter function %s owner to ${owner}', f);
        end loop;
      end $$;
      grant select, insert on weekly_performance_reports, weekly_performance_deliveries,
        weekly_performance_reconciliations, weekly_performance_erased_messages to ${owner};
      alter table weekly_performance_reports owner to ${owner};
      alter table weekly_performance_deliveries owner to ${owner};
      alter table weekly_performance_reconciliations owner to ${owner};
      alter table weekly_performance_erased_messages owner to ${owner};`);
    const member = await newLogin(database.sql, "grant service_role to");
    expect(await fixedByItsHints(database, member)).toEqual([
      `grant insert on public.timeline_entries to ${owner};`,
      `grant references on public.tenants to ${owner};`,
      `grant references on public.users to ${owner};`,
      `grant select on public.credit_wallets to ${owner};`,
      `grant select on public.tenants to ${owner};`,
      `grant select on public.users to ${owner};`,
    ]);
  });
});

test("checkReadiness() names a record of migrations that may not be read", async () => {
  await withDatabase(async (database) => {
    await database.sql`revoke select on opsctl_migrations from service_role`;
    const login = await newLogin(database.sql, "grant service_role to");
    expect(await fixedByItsHints(database, login)).toEqual([
      "grant select on public.opsctl_migrations to service_role;",
    ]);
  });
});

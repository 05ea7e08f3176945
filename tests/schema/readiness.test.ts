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
async function fixedByItsHints(
  database: TestDatabase,
  login: string,
  { major, owner = "" }: { major?: number; owner?: string } = {},
): Promise<string[]> {
  const problems = await problemsOf(database, login, major);
  const quoted = `"${login.replaceAll('"', '""')}"`;
  for (const { hint } of problems)
    await database.sql.unsafe(hint.replaceAll("<login>", quoted).replaceAll("<owner>", owner));
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

const MIGRATE = "Run opsctl migrate, with the login of the schema's owner";

test("checkReadiness() on a database without opsctl's part says one thing", async () => {
  await withDatabase(
    async ({ sql }) => {
      expect(await checkReadiness(sql)).toEqual([
        {
          code: "DATABASE_NOT_MIGRATED",
          message: "Cannot use the database: opsctl's tables and functions are missing",
          hint: MIGRATE,
        },
      ]);
    },
    { migrated: false },
  );
});

test.each<[what: string, sql: string, code: string, reasons: string[]]>([
  [
    "a function that has other arguments",
    `drop function list_weekly_performance_report_scopes(uuid);
     create function list_weekly_performance_report_scopes() returns void language sql as ''`,
    "DATABASE_NOT_MIGRATED",
    ["function public.list_weekly_performance_report_scopes(uuid) is missing"],
  ],
  [
    "pending, edited and unknown migrations",
    `delete from opsctl_migrations where version = 4;
     update opsctl_migrations set checksum = repeat('0', 64) where version = 2;
     insert into opsctl_migrations (version, name, checksum) values (900, '0900_later', repeat('0', 64))`,
    "DATABASE_NOT_MIGRATED",
    [
      `not migrated to ${MIGRATIONS[3]!.name}`,
      `applied from another text ${MIGRATIONS[1]!.name}`,
      "migrated by another opsctl to 0900_later",
    ],
  ],
  [
    "every missing table and column of the application, and never tenants.status",
    `alter table tenants drop column status;
     alter table users drop column phone, drop column email;
     drop table messaging_instances, resend_email_events`,
    "DATABASE_SCHEMA_MISSING",
    [
      "table public.messaging_instances is missing",
      "table public.resend_email_events is missing",
      "table public.users lacks email, phone",
    ],
  ],
])("checkReadiness() names %s", async (_what, sql, code, reasons) => {
  await withDatabase(async (database) => {
    await database.sql.unsafe(sql);
    expect((await checkReadiness(database.sql)).map(({ code, message }) => [code, message])).toEqual(
      reasons.map((reason) => [code, `Cannot use the database: ${reason}`]),
    );
  });
});

const MEMBER = ["grant service_role to"];
const SINGLE_GRANTS = [
  "grant execute on all functions in schema public to",
  "grant select on all tables in schema public to",
];

test.each<[what: string, grants: string[], sql: (login: string) => string, hints: string[]]>([
  [
    "a login without any right to become a member, and nothing else",
    [],
    () => "",
    ["grant service_role to <login> with inherit true;"],
  ],
  [
    "a member that does not inherit to inherit",
    [],
    (login) => `grant service_role to ${login} with inherit false`,
    ["grant service_role to <login> with inherit true;"],
  ],
  [
    "for the membership where single grants would leave every row hidden",
    SINGLE_GRANTS,
    () => "",
    ["grant service_role to <login> with inherit true;"],
  ],
  [
    "a login that bypasses row security only for the grant that it lacks",
    SINGLE_GRANTS,
    (login) => `alter role ${login} bypassrls; revoke select on social_connections from ${login}`,
    ["grant select on public.social_connections to <login>;"],
  ],
  [
    "for what service_role itself lacks",
    MEMBER,
    () => `
      revoke select on users, tenant_config from service_role;
      grant select (id, tenant_id, phone) on users to service_role;
      revoke execute on function settle_weekly_performance_delivery from service_role`,
    [
      "grant execute on function public.settle_weekly_performance_delivery(uuid, uuid, text, text, text) to service_role;",
      "grant select (email) on public.users to service_role;",
      "grant select on public.tenant_config to service_role;",
    ],
  ],
  [
    "for the record of migrations that may not be read",
    MEMBER,
    () => "revoke select on opsctl_migrations from service_role",
    ["grant select on public.opsctl_migrations to service_role;"],
  ],
])("checkReadiness() asks %s", async (_what, grants, sql, hints) => {
  await withDatabase(async (database) => {
    const login = await newLogin(database.sql, ...grants);
    await database.sql.unsafe(sql(login));
    expect(await fixedByItsHints(database, login)).toEqual(hints);
  });
});

test("checkReadiness() asks for the membership of a login with an odd name", async () => {
  await withDatabase(async (database) => {
    const login = `Weekly "${database.name}"`;
    const quoted = `"Weekly ""${database.name}"""`;
    await database.sql.unsafe(`create role ${quoted} login password '${PASSWORD}'`);
    expect(await fixedByItsHints(database, login)).toEqual([
      "grant service_role to <login> with inherit true;",
    ]);
  });
});

test("checkReadiness() words the membership as PostgreSQL 15 knows it", async () => {
  const major = 15;
  await withDatabase(
    async (database) => {
      const stranger = await newLogin(database.sql);
      expect(await fixedByItsHints(database, stranger, { major })).toEqual([
        "grant service_role to <login>; alter role <login> inherit;",
      ]);
      const member = await newLogin(database.sql, "grant service_role to");
      await database.sql.unsafe(`alter role ${member} noinherit`);
      expect(await fixedByItsHints(database, member, { major })).toEqual([
        "grant service_role to <login>; alter role <login> inherit;",
      ]);
    },
    { major },
  );
});

test("checkReadiness() names first a missing membership, then what service_role lacks", async () => {
  await withDatabase(async (database) => {
    await database.sql`revoke select on tenant_config from service_role`;
    const login = await newLogin(database.sql);
    const [membership, ...others] = await problemsOf(database, login);
    expect([membership?.hint, others]).toEqual(["grant service_role to <login> with inherit true;", []]);
    await database.sql.unsafe(`grant service_role to ${login} with inherit true`);
    expect(await fixedByItsHints(database, login)).toEqual([
      "grant select on public.tenant_config to service_role;",
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
    expect(await fixedByItsHints(database, member, { owner })).toEqual([
      "grant insert on public.timeline_entries to <owner>;",
      "grant references on public.tenants to <owner>;",
      "grant references on public.users to <owner>;",
      "grant select on public.credit_wallets to <owner>;",
      "grant select on public.tenants to <owner>;",
      "grant select on public.users to <owner>;",
    ]);
  });
});

/**
 * The database work of opsctl through PgBouncer in transaction mode, where no session belongs to a client.
 *
 * `make integration ONLY=pooler` runs it with Debian's `pgbouncer`; alone it needs the machine's: `bun test
 * ./tests/pooler/pooler.ts`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { listDeliveries } from "../../lib/deliveries/list.ts";
import { applyMigrations, migrationStatus } from "../../lib/migrate/run.ts";
import { type Database, openDatabase } from "../../lib/platform/database/pool.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { openFixture, serviceLogin } from "../e2e/support/fixture.ts";
import { Ledger } from "../sql/support/ledger.ts";
import { sharedPostgres, type TestDatabase } from "../support/postgres.ts";
import { MONDAY, seedOwner } from "../support/seed.ts";
import { type Pooler, startPgbouncer } from "./pgbouncer.ts";

let pooler: Pooler;
let direct: TestDatabase;
let pooled: Database;

beforeAll(async () => {
  const server = await sharedPostgres();
  pooler = await startPgbouncer(server, ["postgres"]);
  direct = await server.createDatabase({ migrated: false });
  pooled = await openDatabase(new Secret(pooler.url(direct.name)), { max: 20, applicationName: "pooler" });
});

afterAll(async () => {
  await pooled.close();
  await pooler.stop();
  await direct.drop();
});

test("openDatabase() notices the pooler and prepares nothing", () => {
  expect(pooled.prepares).toBe(false);
});

test("two migrations at once succeed, and the database is ready", async () => {
  const { sql } = pooled;
  await Promise.all([applyMigrations({ sql }), applyMigrations({ sql })]);
  expect((await migrationStatus({ sql })).every(({ state }) => state === "applied")).toBe(true);
  expect(await checkReadiness(sql)).toEqual([]);
});

test("twenty clients claim over two sessions: one token each for report and delivery", async () => {
  const through = new Ledger(() => ({ ...direct, sql: pooled.sql }));
  await through.setClock(MONDAY);
  const owner = await through.newOwner();
  const twenty = Array.from({ length: 20 });
  const claims = await Promise.all(twenty.map(() => through.claimReport(owner)));
  const [winner, ...others] = claims.filter((claim) => claim.token !== null);
  expect(others).toEqual([]);
  await through.persist(owner, winner!);

  const deliveries = await Promise.all(twenty.map(() => through.claimDelivery(winner!.id, "email")));
  const [delivery, ...rest] = deliveries.filter((claim) => claim.token !== null);
  expect(rest).toEqual([]);
  await through.dispatch(delivery!, "f***@example.com");
  await through.settle(delivery!, "unknown", null, "provider_timeout");
  await through.reconcile(delivery!.id, "sent", "provider-id");
  const list = await listDeliveries(pooled.sql, { tenantId: owner.tenantId }, 10);
  expect(list.deliveries).toMatchObject([{ id: delivery!.id, state: "sent" }]);
});

test("a hundred rounds leave no prepared statement and no lock behind in the sessions", async () => {
  for (let round = 0; round < 100; round++) await checkReadiness(pooled.sql);
  const [left] = await pooled.sql`
    select (select count(*)::int from pg_prepared_statements) as prepared,
           (select count(*)::int from pg_locks where locktype = 'advisory') as locks`;
  expect(left).toEqual({ prepared: 0, locks: 0 });
});

test("a pooler that has no connection left is waited for", async () => {
  const own = await startPgbouncer(await sharedPostgres(), ["postgres"], {
    settings: ["max_client_conn = 1"],
  });
  const url = new Secret(own.url(direct.name));
  try {
    const first = await openDatabase(url, { max: 1, applicationName: "pooler" });
    await first.sql`select 1`;
    const waits: string[] = [];
    const second = await openDatabase(url, {
      max: 1,
      applicationName: "pooler",
      patience: {
        limitMs: 600_000,
        unreachableLimitMs: 600_000,
        signal: new AbortController().signal,
        onWait(code) {
          waits.push(code);
          void first.close();
        },
      },
    });
    await second.close();
    expect(waits).toHaveLength(1);
  } finally {
    await own.stop();
  }
});

test("two weekly runs of the binary send each report once, and doctor gets an answer to everything", async () => {
  const login = await serviceLogin();
  const own = await startPgbouncer(await sharedPostgres(), [login]);
  try {
    await using fixture = await openFixture({ editorials: true });
    fixture.secret("DATABASE_URL", own.url(fixture.db.name, login));
    for (let owner = 0; owner < 12; owner += 1) await seedOwner(fixture.db.sql);
    const first = await fixture.weekly(["--json"]);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.summary).toMatchObject({ whatsapp: { sent: 12 }, email: { sent: 12 } });
    const second = await fixture.weekly(["--json"]);
    expect(second.summary).toMatchObject({
      whatsapp: { reused: 12, sent: 0 },
      email: { reused: 12, sent: 0 },
    });
    expect(fixture.gateway.accepted).toHaveLength(12);
    const doctor = await fixture.opsctl(["doctor", "--json"]);
    expect(doctor.stdout).not.toContain("CHECK_TIMED_OUT");
    const { findings } = doctor.json as {
      findings: { command: string; check: string; status: string }[];
    };
    const schema = findings.filter(({ check }) => check === "database schema");
    expect(schema.map(({ command, status }) => [command, status])).toEqual(
      ["weekly", "reports", "deliveries"].map((command) => [command, "pass"]),
    );
  } finally {
    await own.stop();
  }
});

/**
 * The database work of opsctl through PgBouncer in transaction mode, where no session belongs to a client.
 *
 * A run of its own, since it needs the machine's `pgbouncer`: `bun test ./tests/pooler/pooler.ts`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { listDeliveries } from "../../lib/deliveries/list.ts";
import { applyMigrations, migrationStatus } from "../../lib/migrate/run.ts";
import { type Database, openDatabase } from "../../lib/platform/database/pool.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { Ledger, MONDAY } from "../sql/support/ledger.ts";
import { sharedPostgres, type TestDatabase } from "../support/postgres.ts";
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

import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Route, Scripted, StandIn } from "../../standins/standin.ts";
import { MONDAY, seedSenders, setClock } from "../../support/seed.ts";
import { type WeeklyFixture, weeklyFixture } from "./weekly-fixture.ts";

/** One fixture for all tests of a file, as if new before each: a database of its own costs more than most tests. */
export function sharedWeekly(options: Parameters<typeof weeklyFixture>[0] = {}): () => WeeklyFixture {
  let weekly: WeeklyFixture;
  let usualWork: WeeklyFixture["onAnalyze"];
  beforeAll(async () => {
    weekly = await weeklyFixture(options);
    usualWork = weekly.onAnalyze;
  });
  beforeEach(async () => {
    weekly.onAnalyze = usualWork;
    weekly.onEditorial = () => {};
    await startOver(weekly, options.clock ?? MONDAY);
  });
  afterEach(() => expect(neverGiven(weekly)).toEqual([]));
  afterAll(async () => await weekly[Symbol.asyncDispose]());
  return () => weekly;
}

/** Makes a fixture as if new: no owners, no rows, no calls, nothing in the log directory. */
export async function startOver(weekly: WeeklyFixture, clock: string = MONDAY): Promise<void> {
  const { db, application, gateway, email, logDir } = weekly;
  weekly.timeoutsMs = {};
  await db.sql.begin(async (tx) => {
    // Without triggers: what the ledger guards from everybody else is emptied as well.
    await tx`set local session_replication_role = replica`;
    const tables = await tx<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relname <> 'opsctl_migrations'`;
    await tx.unsafe(tables.map(({ name }) => `delete from public.${name}`).join("; ")).simple();
  });
  await setClock(db.sql, clock);
  Object.assign(weekly.senders, await seedSenders(db.sql));
  for (const peer of [application, gateway, email]) forgetCalls(peer);
  Object.assign(application, { outsideMonday: false, latencyMs: 0 });
  application.editorials.length = 0;
  application.analyzed.length = 0;
  gateway.accepted.length = 0;
  gateway.kept.length = 0;
  const now = () => new Date();
  Object.assign(gateway, { keepsMessages: true, now });
  gateway.absentNumbers.clear();
  gateway.integrations.clear();
  Object.assign(gateway, { isLicensed: true, hasDatabase: true, metaError: null });
  gateway.instances.clear();
  gateway.instances.set("ops", "open");
  email.accepted.length = 0;
  Object.assign(email, { listsOldestFirst: false, now });
  for (const name of readdirSync(logDir)) rmSync(join(logDir, name), { recursive: true });
}

/** The routes with answers that a test ordered and no call took: what it wanted to see did not happen. */
function neverGiven({ application, gateway, email }: WeeklyFixture): [route: string, ordered: Scripted[]][] {
  return [application, gateway, email].flatMap((peer) =>
    Object.entries<Route>(peer.routes).flatMap(([name, { ordered }]): [string, Scripted[]][] =>
      ordered.length === 0 ? [] : [[name, [...ordered]]],
    ),
  );
}

function forgetCalls(peer: StandIn<string>): void {
  peer.ledger.length = 0;
  peer.unexpected.length = 0;
  peer.latencyMs = 0;
  for (const route of Object.values<Route>(peer.routes)) {
    route.calls.length = 0;
    route.ordered.length = 0;
    Object.assign(route, { script: null, scriptByBody: null });
  }
}

/**
 * The webhook's state in PostgreSQL: durable posts a second beside a state in a file, and what one row costs the server
 * beside a bare insert of the same alert. Processor time and log hardly depend on what else the machine does.
 */
import { readFileSync } from "node:fs";
import { openDatabase } from "../../lib/platform/database/pool.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { type AttemptEnd, OUTBOX_LIMITS } from "../../lib/webhook/store/model.ts";
import type { State } from "../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../lib/webhook/store/postgres/store.ts";
import type { PostgresServer, TestDatabase } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";
import { sampleAlert } from "../webhook/support/sample-alert.ts";
import { acceptAll } from "../webhook/support/state-fixture.ts";
import { type Figure, median } from "./figure.ts";
import { loaded, SMALL_POST, startOpsctl } from "./webhook-speed.ts";

const CONNECTIONS = 16;
const SECONDS = 4;
const ROUNDS = 5;
/** Calls of a kind in one round. */
const CALLS = 200;
const APPLICATION = "opsctl-bench-state";
const BARE = "a bare insert";
const FAILED = {
  status: "retry",
  delayMs: 0,
  code: "timeout",
  triedMs: 5,
  ambiguous: 0,
  mayHaveArrived: false,
} as const;
const TEXT = { text: "text ".repeat(100), note: { emailed: 0, undelivered: 0 } };

/** One figure for the posts, and one for each kind of call. */
export async function stateFigures(server: PostgresServer): Promise<Figure[]> {
  return [await postsFigure(server), ...(await callFigures(server))];
}

async function postsFigure(server: PostgresServer): Promise<Figure> {
  const rounds: { database: number; file: number }[] = [];
  for (let i = 0; i < 3; i += 1) {
    const db = await server.createDatabase({ migrated: false, appSchema: false });
    const database = await postsPerSecond({ OPSCTL_STATE_URL: db.url });
    await db.drop();
    rounds.push({ database, file: await postsPerSecond({}) });
  }
  return {
    measure: `durable posts of ${SMALL_POST} alerts, ${CONNECTIONS} connections, PostgreSQL against a file`,
    value: `${median(rounds.map(({ database }) => database)).toFixed(0)}/s`,
    baseline: `${median(rounds.map(({ file }) => file)).toFixed(0)}/s`,
    ratio: median(rounds.map(({ database, file }) => database / file)),
  };
}

async function postsPerSecond(env: Record<string, string>): Promise<number> {
  return (await loaded(await startOpsctl(5, env), CONNECTIONS, SECONDS, SMALL_POST)).perSecond;
}

/** What one row costs the server: its processors' time, and the log that it writes. */
type Cost = { cpuUs: number; logBytes: number };

async function callFigures(server: PostgresServer): Promise<Figure[]> {
  const db = await server.createDatabase({ migrated: false, appSchema: false });
  const url = new Secret(db.url);
  const store = await openPostgresStore({ url, log: silentLog, applicationName: APPLICATION });
  const state = outboxOn(store, { limits: OUTBOX_LIMITS, comments: false, log: silentLog });
  await state.lead();
  const bare = await openDatabase(url, { max: 1, applicationName: APPLICATION });
  await bare.sql`create table bare (id bigint generated always as identity primary key, alert text not null)`;
  const costs = new Map<string, Cost[]>();
  // The first round makes connections and plans.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [what, rows, call] of callsOf(state, bare.sql, round)) {
      const cost = await costOf(db, rows, call);
      if (round > 0) costs.set(what, [...(costs.get(what) ?? []), cost]);
    }
  await Promise.all([state.close(), bare.close()]);
  await db.drop();
  return figuresOf(costs);
}

type Call = [what: string, rows: number, call: (at: number) => Promise<unknown>];

function callsOf(state: State, sql: TestDatabase["sql"], round: number): Call[] {
  const rows: number[] = [];
  const repeated = ["a", "b", "c"].map((fingerprint) => sampleAlert({ fingerprint }));
  const acceptNew = async (at: number) => {
    const [accepted] = await acceptAll(state, sampleAlert({ fingerprint: `${round}-${at}` }));
    rows.push(accepted!.messageRow);
  };
  const begin = (at: number) =>
    state.begin({ id: rows[at]!, attempts: 0 }, { content: TEXT, members: [], paceAheadMs: 0 });
  const finish = (end: AttemptEnd) => (at: number) => state.finish(rows[at]!, end);
  const alert = JSON.stringify(repeated[0]);
  return [
    [BARE, 1, async () => await sql`insert into bare (alert) values (${alert})`],
    ["a new alert: message and issue", 1, acceptNew],
    ["a repeated alert", SMALL_POST, () => acceptAll(state, ...repeated)],
    ["an attempt that begins", 1, begin],
    ["an attempt that failed", 1, finish(FAILED)],
    ["a delivery", 1, finish({ status: "delivered", reference: `3EB0${round}`, url: null })],
  ];
}

async function costOf(db: TestDatabase, rows: number, call: Call[2]): Promise<Cost> {
  const before = await spent(db);
  for (let at = 0; at < CALLS; at += 1) await call(at);
  const after = await spent(db);
  const each = (key: keyof Cost) => (after[key] - before[key]) / (CALLS * rows);
  return { cpuUs: each("cpuUs"), logBytes: each("logBytes") };
}

/** What the connections that are measured have spent so far. */
async function spent({ sql, name }: TestDatabase): Promise<Cost> {
  const backends = await sql`
    select pid from pg_stat_activity where datname = ${name} and application_name = ${APPLICATION}`;
  const [log] = await sql`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as bytes`;
  const cpuUs = backends.reduce((sum, { pid }) => sum + processorUs(pid), 0);
  return { cpuUs, logBytes: Number(log!.bytes) };
}

function processorUs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
}

function figuresOf(costs: Map<string, Cost[]>): Figure[] {
  const [[, bare], ...calls] = [...costs] as [[string, Cost[]], ...[string, Cost[]][]];
  const middle = (of: Cost[], key: keyof Cost) => median(of.map((cost) => cost[key]));
  return calls.flatMap(([what, measured]) => [
    {
      measure: `processor time of the server, ${what}, against ${BARE}`,
      value: `${middle(measured, "cpuUs").toFixed(0)} µs`,
      baseline: `${middle(bare, "cpuUs").toFixed(0)} µs`,
      ratio: median(measured.map(({ cpuUs }, at) => cpuUs / bare[at]!.cpuUs)),
    },
    {
      measure: "  its log",
      value: `${middle(measured, "logBytes").toFixed(0)} B`,
      baseline: `${middle(bare, "logBytes").toFixed(0)} B`,
      ratio: median(measured.map(({ logBytes }, at) => logBytes / bare[at]!.logBytes)),
    },
  ]);
}

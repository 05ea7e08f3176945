/** What `openDatabase` does on the runtime that runs this file; prints one line of JSON for `database.test.ts`. */
import process from "node:process";
import { classifyDatabaseError } from "../../../lib/platform/database/error.ts";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { underFault } from "./database-load.ts";
import { faultProxy } from "./fault-proxy.ts";
import { listen, proxyTo } from "./wire.ts";

const [url = ""] = process.argv.slice(2);
const options = { max: 3, applicationName: "opsctl probe", connectLimitMs: 2_000 };
const open = (port: number, more: { answerLimitMs?: number } = {}) => {
  const changed = new URL(url);
  changed.port = String(port);
  return openDatabase(new Secret(changed.href), { ...options, ...more });
};
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "ok",
    (error) => classifyDatabaseError(error).code,
  );

await using proxy = await proxyTo(Number(new URL(url).port));
const db = await open(proxy.port);
const seen = new Set<string>();
for (let round = 0; round < 10; round++) {
  const worker = async () => {
    for (let step = 0; step < 3; step++) seen.add(await outcome(db.sql`select ${step}::int`));
  };
  const workers = [1, 2, 3, 4, 5].map(worker);
  proxy.cut();
  await Promise.all(workers);
}
const transaction = await outcome(
  db.sql.begin(async (sql) => {
    await sql`select 1`;
    proxy.cut();
    await sql`select 2`;
  }),
);
const afterwards = await outcome(db.sql`select 1`);
await db.close();

/** The outcomes of transactions that lose all connections, or the answers of all. */
async function transactionsUnder(fault: "cut" | "silence", answerLimitMs: number): Promise<string[]> {
  await using faulty = await faultProxy(Number(new URL(url).port));
  const own = await open(faulty.port, { answerLimitMs });
  const happen = () => (fault === "cut" ? faulty.cut() : faulty.lose("answers"));
  const { transactions } = await underFault(own, options.max, happen);
  await own.close();
  return [...new Set(transactions)];
}

const cut = await transactionsUnder("cut", 600_000);
const silenced = await transactionsUnder("silence", 2_000);

await using rude = await listen((socket) => socket.end());
const hungUp = await outcome(open(rude.port));
await using silent = await listen(() => {});
const never = await outcome(open(silent.port));
console.log(
  JSON.stringify({
    seen: [...seen].sort(),
    transaction,
    afterwards,
    cut,
    silenced,
    hungUp,
    tries: rude.connections(),
    never,
  }),
);

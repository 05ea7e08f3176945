/** What `openDatabase` does on the runtime that runs this file; prints one line of JSON for `database.test.ts`. */
import process from "node:process";
import { classifyDatabaseError } from "../../../lib/platform/database/error.ts";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { listen, proxyTo } from "./wire.ts";

const [url = ""] = process.argv.slice(2);
const options = { max: 3, applicationName: "opsctl probe", connectLimitMs: 2_000 };
const open = (port: number) => {
  const changed = new URL(url);
  changed.port = String(port);
  return openDatabase(new Secret(changed.href), options);
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

await using rude = await listen((socket) => socket.end());
const hungUp = await outcome(open(rude.port));
await using silent = await listen(() => {});
const never = await outcome(open(silent.port));
console.log(
  JSON.stringify({
    seen: [...seen].sort(),
    transaction,
    afterwards,
    hungUp,
    tries: rude.connections(),
    never,
  }),
);

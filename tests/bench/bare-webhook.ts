/**
 * What the runtime can do at best, as a process of its own: `parse` only parses the JSON and answers; `sqlite` also
 * writes each alert as one row in a transaction of its own, on disk before the answer. Prints its URL and ends with its
 * standard input. Arguments: mode, file of the database.
 */

import process from "node:process";
import { DatabaseSync } from "node:sqlite";

const [mode, file] = process.argv.slice(2) as [string, string];
const keep = mode === "sqlite" ? writer(file) : () => {};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const text = await request.text();
    const body = JSON.parse(text) as { alerts: unknown[] };
    for (const alert of body.alerts) keep(alert);
    return Response.json({ accepted: body.alerts.length });
  },
});

function writer(path: string): (alert: unknown) => void {
  const db = new DatabaseSync(path);
  db.exec(
    "pragma journal_mode = wal; pragma synchronous = full; create table alerts (id integer primary key, alert text)",
  );
  const insert = db.prepare("insert into alerts (alert) values (?)");
  return (alert) => void insert.run(JSON.stringify(alert));
}

console.log(`${server.url.origin}/webhook`);
process.stdin.on("end", () => process.exit(0)).resume();

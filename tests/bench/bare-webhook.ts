/**
 * What the runtime can do at best, as a process of its own: `parse` only parses the JSON and answers; `sqlite` also
 * writes the body as one row in a transaction of its own, on disk before the answer. Prints its URL and ends with its
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
    keep(text);
    return Response.json({ accepted: body.alerts.length });
  },
});

function writer(path: string): (text: string) => void {
  const db = new DatabaseSync(path);
  db.exec(
    "pragma journal_mode = wal; pragma synchronous = full; create table posts (id integer primary key, body text)",
  );
  const insert = db.prepare("insert into posts (body) values (?)");
  return (text) => void insert.run(text);
}

console.log(`${server.url.origin}/webhook`);
process.stdin.on("end", () => process.exit(0)).resume();

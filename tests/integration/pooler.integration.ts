/** The database work and weekly runs through Debian's PgBouncer in transaction mode: see `tests/pooler/pooler.ts`. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { putOnPath } from "../support/debian-tool.ts";
import { endAs, notTried } from "./program.ts";

if (!putOnPath({ program: "pgbouncer", packageName: "pgbouncer" })) notTried("PgBouncer cannot be had");
console.log(spawnSync("pgbouncer", ["--version"], { encoding: "utf8" }).stdout.split("\n")[0]);
await endAs(process.execPath, ["test", "./tests/pooler/pooler.ts"], {
  cwd: join(import.meta.dirname, "../.."),
});

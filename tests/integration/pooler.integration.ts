/** The database work and weekly runs through Debian's PgBouncer in transaction mode: see `tests/pooler/pooler.ts`. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { putOnPath } from "../support/debian-tool.ts";
import { notTried } from "./not-tried.ts";

if (!putOnPath({ program: "pgbouncer", packageName: "pgbouncer" })) notTried("PgBouncer cannot be had");
console.log(spawnSync("pgbouncer", ["--version"], { encoding: "utf8" }).stdout.split("\n")[0]);
const tests = spawn(process.execPath, ["test", "./tests/pooler/pooler.ts"], {
  cwd: join(import.meta.dirname, "../.."),
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill("SIGTERM"));
const [status] = (await once(tests, "close")) as [number | null];
process.exit(status ?? 1);

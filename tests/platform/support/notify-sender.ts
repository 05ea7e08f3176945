/** Tells NOTIFY_SOCKET something when no descriptor is left; prints how that went. Run by Bun and by Deno. */
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { openServiceManager } from "../../../lib/platform/service-manager.ts";

// As the service does: Deno opens descriptors for its first signal, and panics when there is none.
process.on("SIGTERM", () => {});

const failures: string[] = [];
const manager = openServiceManager(process.env, {
  pid: process.pid,
  onFailure: (code) => failures.push(code),
  everyMs: 5,
});
const taken: number[] = [];
let problem = "";
try {
  for (let at = 0; at < 5_000; at += 1) taken.push(openSync("/dev/null", "r"));
} catch (error) {
  problem = String((error as NodeJS.ErrnoException).code ?? (error as Error).message);
}
await manager.ready();
await new Promise((resolve) => setTimeout(resolve, 50));
manager.close();
for (const fd of taken) closeSync(fd);
console.log(JSON.stringify({ isShort: problem !== "", failures }));
process.exit(0);

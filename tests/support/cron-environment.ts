/** The environment that the cron file gives the weekly run by itself, for those that start the run as cron does. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const cron = join(dirname(fileURLToPath(import.meta.url)), "../../systemd/opsctl.cron");

/** The engine's settings in the line of `opsctl weekly`. */
export function cronEnvironment(): Record<string, string> {
  const line = /^.* \S*opsctl weekly .*$/m.exec(readFileSync(cron, "utf8"))?.[0] ?? "";
  return Object.fromEntries(
    [...line.matchAll(/ (BUN_JSC_[A-Za-z]+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
  );
}

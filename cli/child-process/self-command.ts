import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../lib/platform/runtime.ts";

/** Where a compiled binary has its sources. */
const INSIDE_BINARY = /^file:\/\/\/\$bunfs\//;

/** How this very opsctl is started once more, on the runtime that it runs on; its arguments come after it. */
export function selfCommand(): string[] {
  if (INSIDE_BINARY.test(import.meta.url)) return [process.execPath];
  const main = fileURLToPath(new URL("../main.ts", import.meta.url).href);
  return runtimeName() === "deno" ? [process.execPath, "run", "-A", main] : [process.execPath, main];
}

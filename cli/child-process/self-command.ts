import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../lib/platform/runtime.ts";

/** The URL of the sources inside a compiled binary. */
const INSIDE_BINARY = /^file:\/\/\/\$bunfs\//;

/** The command that starts this opsctl again on the same runtime; arguments come after it. */
export function selfCommand(): string[] {
  if (INSIDE_BINARY.test(import.meta.url)) return [process.execPath];
  const main = fileURLToPath(new URL("../main.ts", import.meta.url).href);
  return runtimeName() === "deno" ? [process.execPath, "run", "-A", main] : [process.execPath, main];
}

import { execFileSync } from "node:child_process";
import { join } from "node:path";

const LAUNCHER = join(import.meta.dirname, "../../node_modules/.bin/deno");

/** Deno itself: npm's launcher would stand between it and the signals and descriptors that a test gives it. */
export function denoBinary(): string {
  return execFileSync(LAUNCHER, ["eval", "console.log(Deno.execPath())"], { encoding: "utf8" }).trim();
}

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = join(import.meta.dirname, "../../node_modules/deno");
const LAUNCHER = join(import.meta.dirname, "../../node_modules/.bin/deno");

/** Deno itself: npm's launcher would stand between it and the signals and descriptors that a test gives it. */
export function denoBinary(): string {
  const program = join(PACKAGE, "deno");
  if (existsSync(program)) return program;
  return execFileSync(LAUNCHER, ["eval", "console.log(Deno.execPath())"], { encoding: "utf8" }).trim();
}

import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The commit of the checkout whose top folder holds these sources; `unknown` when there is no such checkout. */
export function sourceCommit(): string {
  try {
    const sources = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "../.."));
    // GIT_DIR and similar variables may name another checkout.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
    const args = ["-C", sources, "rev-parse", "--show-toplevel", "--short=12", "HEAD"];
    const answer = execFileSync("git", args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] });
    const [top, hash] = answer.split("\n");
    return top === sources && hash ? hash : "unknown";
  } catch {
    return "unknown";
  }
}

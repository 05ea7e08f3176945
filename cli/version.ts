import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The version of opsctl, the same as in package.json. */
export const VERSION = "0.1.0";

/** Put in by `bun build --define`; there is no such name when the sources run as they are. */
declare const OPSCTL_COMMIT: string | undefined;

/** The one line of `opsctl --version`. */
export async function versionLine(): Promise<string> {
  return `opsctl ${VERSION} (${await commit()})`;
}

/** The commit that this program was built from or runs from, `unknown` outside opsctl's own checkout. */
async function commit(): Promise<string> {
  if (typeof OPSCTL_COMMIT === "string") return OPSCTL_COMMIT;
  const { execFileSync } = await import("node:child_process");
  try {
    const sources = realpathSync(join(dirname(fileURLToPath(import.meta.url)), ".."));
    // GIT_DIR and its like would answer for another checkout.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));
    const args = ["-C", sources, "rev-parse", "--show-toplevel", "--short=12", "HEAD"];
    const answer = execFileSync("git", args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] });
    const [top, hash] = answer.split("\n");
    return top === sources && hash ? hash : "unknown";
  } catch {
    return "unknown";
  }
}

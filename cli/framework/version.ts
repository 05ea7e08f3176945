import process from "node:process";

/** The version of opsctl, the same as in package.json. */
export const VERSION = "0.1.0";

/** Defined by `bun build --define`; not defined when the sources run without a build. */
declare const OPSCTL_COMMIT: string | undefined;

/** The commit of the build, or of the checkout when the sources run. */
export async function commit(): Promise<string> {
  return typeof OPSCTL_COMMIT === "string" ? OPSCTL_COMMIT : await checkedOutCommit();
}

/** The line of `opsctl --version`: with the commit. */
export async function versionLine(): Promise<string> {
  return `opsctl ${VERSION} (${await commit()})`;
}

/** The commit of the checkout whose top folder holds these sources; `unknown` when there is no such checkout. */
async function checkedOutCommit(): Promise<string> {
  const { execFileSync } = await import("node:child_process");
  const { realpathSync } = await import("node:fs");
  try {
    const sources = realpathSync(`${import.meta.dirname}/../..`);
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

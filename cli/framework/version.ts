/** The version of opsctl, the same as in package.json. */
export const VERSION = "0.1.0";

/** Put in by `bun build --define`; there is no such name when the sources run as they are. */
declare const OPSCTL_COMMIT: string | undefined;

/** The one line of `opsctl --version`: the commit is the one built from, or the checkout's when run from source. */
export async function versionLine(): Promise<string> {
  if (typeof OPSCTL_COMMIT === "string") return `opsctl ${VERSION} (${OPSCTL_COMMIT})`;
  const { sourceCommit } = await import("./source-commit.ts");
  return `opsctl ${VERSION} (${sourceCommit()})`;
}

/** The version of opsctl, the same as in package.json. */
export const VERSION = "0.1.0";

/** Defined by `bun build --define`; not defined when the sources run without a build. */
declare const OPSCTL_COMMIT: string | undefined;

/** The commit of the build, or of the checkout when the sources run. */
export async function commit(): Promise<string> {
  if (typeof OPSCTL_COMMIT === "string") return OPSCTL_COMMIT;
  const { sourceCommit } = await import("./source-commit.ts");
  return sourceCommit();
}

/** The line of `opsctl --version`: with the commit. */
export async function versionLine(): Promise<string> {
  return `opsctl ${VERSION} (${await commit()})`;
}

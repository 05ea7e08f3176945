/** The version of opsctl, the same as in package.json. */
export const VERSION = "0.1.0";

/** Defined by `bun build --define`; not defined when the sources run without a build. */
declare const OPSCTL_COMMIT: string | undefined;

/** The commit of the build; `unknown` when the sources run without one. */
export const COMMIT: string = typeof OPSCTL_COMMIT === "string" ? OPSCTL_COMMIT : "unknown";

/** The line of `opsctl --version`. */
export const VERSION_LINE = `opsctl ${VERSION} (${COMMIT})`;

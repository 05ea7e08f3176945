import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DEFAULT_STATE_DIR } from "../../platform/config/directories.ts";
import { SETTINGS } from "../../platform/config/settings-table.ts";
import type { Fix } from "../../platform/errors.ts";
import { octal } from "../../platform/files/modes.ts";
import { stepsTo } from "../../platform/files/trusted-path.ts";

/** What this process wants to do with a file or directory; writing into a directory includes entering it. */
export type Want = "read" | "write-into";

/** Why it may not, and where on the way; `unseen`: the system does not say, as for links that lead round. */
export type NoAccess = { status: "refused"; at: string; text: string } & (
  | { why: "missing" | "closed" | "no_directory" | "read_only" }
  | { why: "unseen"; error: Error }
);

/** Whether this process may do what it wants. */
export type Access = { status: "allowed" } | NoAccess;

const MODES: Record<Want, number> = { read: constants.R_OK, "write-into": constants.W_OK | constants.X_OK };

/**
 * Whether this process may do this with `path`, as the kernel says: with access lists, file systems mounted read-only
 * and security modules.
 *
 * Behaviour: opens nothing and tries nothing. Root may do nearly everything: ask after root has become the account.
 */
export async function accessOf(path: string, want: Want): Promise<Access> {
  try {
    await access(path, MODES[want]);
    if (want === "read" || (await stat(path)).isDirectory()) return { status: "allowed" };
    return refused("no_directory", path, `${path} is not a directory`);
  } catch (error) {
    return await obstacle(path, (error as NodeJS.ErrnoException).code ?? "an unknown error");
  }
}

/** The first step on the way that keeps this process out. */
async function obstacle(path: string, code: string): Promise<NoAccess> {
  if (code === "EROFS") return refused("read_only", path, `${path} is on a file system that is read-only`);
  for (const step of stepsTo(path)) {
    const found = await stat(step).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) {
      if (found.code === "EACCES") return await closed(dirname(step));
      if (found.code === "ENOENT" || found.code === "ENOTDIR")
        return refused("missing", step, `${step} does not exist`);
      const text = `${step} cannot be looked at: ${found.code}`;
      return { status: "refused", why: "unseen", at: step, text, error: found };
    }
    if (step !== path && !found.isDirectory())
      return refused("no_directory", step, `${step} is not a directory`);
  }
  return await closed(path);
}

async function closed(at: string): Promise<NoAccess> {
  const owned = await stat(at).then(
    ({ mode, uid, gid }) => ` with mode ${octal(mode)} of uid ${uid}, gid ${gid}`,
    () => "",
  );
  return refused("closed", at, `${at}${owned} is closed to this account`);
}

function refused(why: Exclude<NoAccess["why"], "unseen">, at: string, text: string): NoAccess {
  return { status: "refused", why, at, text };
}

/** The code of a directory that an account may not use. */
export function directoryCode({ why }: NoAccess): string {
  return why === "closed" || why === "read_only" ? "DIRECTORY_CLOSED" : "DIRECTORY_MISSING";
}

/**
 * A fix at a path: in words, and with its command where the path is that of an installation.
 *
 * Shape:     `installed` are the paths of the program for this very purpose: a setting of the account may name any other,
 *            also a file of root's.
 */
export function fixAt(
  path: string,
  installed: readonly string[],
  text: string,
  line: (path: string) => string,
): Fix {
  const known = installed.find((one) => one === path);
  return { text, command: known === undefined ? null : line(known) };
}

/** What lets `owner` read a file that is closed to it. */
export function openingFix({ at }: Pick<NoAccess, "at">, path: string, owner: string): Fix {
  const text =
    at === path
      ? `Look at it, then give it to ${owner}`
      : "Let others pass through that directory: chmod o+x";
  return { text, command: null };
}

/** The directories of the service account in an installation. */
const DIRECTORIES: readonly string[] = [DEFAULT_STATE_DIR, SETTINGS.OPSCTL_LOG_DIR.default];

/** What makes a directory that is missing, or gives one to its account. */
export function directoryFix(
  { why, at }: NoAccess,
  path: string,
  { owner, mode }: { owner: string; mode: string },
): Fix {
  if (why === "read_only") return { text: "Name a directory on another file system", command: null };
  if (why === "closed" && at !== path) return openingFix({ at }, path, owner);
  const text = `Make it a directory of ${owner} with mode ${mode}`;
  // What stands in its place would be in the way.
  if (why === "no_directory") return { text: `Move away what is there. ${text}`, command: null };
  return fixAt(path, DIRECTORIES, text, (known) => `install -d -o ${owner} -g ${owner} -m ${mode} ${known}`);
}

import type { Stats } from "node:fs";
import process from "node:process";
import { isRoot, trustedUids } from "../account/account.ts";
import { OpsError } from "../errors.ts";
import { fileSystemText } from "./closed-here.ts";
import { octal, WRITABLE_BY_OTHERS } from "./modes.ts";
import { readJudged } from "./regular-file.ts";
import { namesOf, type Step, type Untrusted, untrustedStep, wayTo } from "./trusted-path.ts";

/**
 * A file that holds secrets.
 *
 * Shape: `subject` is its name in messages ("secret X"), `reader` who needs it, `ownPlace` the path of root's own such
 *        file; `isTrusted` accepts a mode that would be refused.
 */
export type ClosedFile = {
  subject: string;
  reader: string;
  ownPlace: string;
  maxBytes: number;
  isTrusted?: (stats: Stats, userId: number | undefined) => boolean;
};

/** Who may only execute a file learns nothing of it. */
const READ_OR_WRITTEN_BY_OTHERS = 0o066;

/**
 * The bytes of a file that holds secrets; undefined where there is none.
 *
 * Behaviour: opens it once and judges it by its descriptor: regular, closed to group and others, root's or this
 *            account's. The directories and links on its path must belong to root or this account too (for root: to
 *            root alone), or another account could lead the process to a file that only this one may read. Links are
 *            followed: vault agents and Kubernetes publish by them.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readClosedFile(path: string, file: ClosedFile): Uint8Array | undefined {
  try {
    const { steps, end } = wayTo(path);
    const found = untrustedStep(steps, trustedUids());
    if (found !== null) throw untrusted(path, file, found);
    if (end === null) return undefined;
    return readJudged(path, (stats) => judge(path, file, stats, steps.at(-1)));
  } catch (error) {
    if (error instanceof OpsError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw unreadable(path, file, fileSystemText(error), error);
  }
}

/**
 * What `readClosedFile` returns, as text.
 *
 * Errors: those of `readClosedFile`; SECRET_FILE_UNREADABLE when it is not UTF-8.
 */
export function readClosedText(path: string, file: ClosedFile): string | undefined {
  const bytes = readClosedFile(path, file);
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(path, file, "it is not UTF-8 text");
  }
}

function judge(path: string, file: ClosedFile, stats: Stats, directory: Step | undefined): void {
  if (!stats.isFile()) throw unreadable(path, file, "it is not a regular file");
  if ((stats.mode & READ_OR_WRITTEN_BY_OTHERS) !== 0 && !file.isTrusted?.(stats, process.geteuid?.()))
    throw exposed(path, file, stats);
  const why = foreignness(stats, directory);
  if (why !== null) throw untrusted(path, file, { path, why, owner: stats.uid, mend: null });
  if (stats.size > file.maxBytes) throw unreadable(path, file, `it has more than ${file.maxBytes} bytes`);
}

function foreignness({ uid, nlink }: Stats, directory: Step | undefined): string | null {
  const trusted = trustedUids();
  if (!trusted.includes(uid)) return `the file belongs to ${namesOf([uid])}, expected ${namesOf(trusted)}`;
  // In a sticky directory any account may give a file of ours a second name.
  const isShared = ((directory?.mode ?? 0) & WRITABLE_BY_OTHERS) !== 0;
  return isShared && nlink > 1 ? "the file has a second name elsewhere (a hard link)" : null;
}

function exposed(path: string, { subject }: ClosedFile, stats: Stats): OpsError {
  const mode = octal(stats.mode & 0o777);
  return new OpsError({
    code: "SECRET_FILE_EXPOSED",
    message: `Cannot read ${subject}: file ${path} has mode ${mode}, open to group or others, expected 0600 or 0400`,
    hint: closingLine(path, stats),
  });
}

/** Others who could write to what root reads have chosen what is in it, and may still have it open: it is not closed. */
function closingLine(path: string, { mode }: Stats): string {
  return isRoot() && (mode & WRITABLE_BY_OTHERS) !== 0
    ? `Look at it, then move it away: mv -nT ${path} ${path}.foreign`
    : `chmod 0600 ${path}`;
}

function untrusted(path: string, file: ClosedFile, { why, mend }: Untrusted): OpsError {
  return new OpsError({
    code: "SECRET_FILE_UNTRUSTED",
    message: `Cannot read ${file.subject}: file ${path} was not used: ${why}`,
    hint: mend ?? ownerHint(file),
  });
}

function ownerHint({ ownPlace }: ClosedFile): string {
  return isRoot()
    ? `What root reads is root's alone: install -D -m 0600 /dev/stdin ${ownPlace}, or run the command as the account that the file belongs to`
    : "Keep the file in a directory that belongs to root or to the account that runs opsctl, and give it to that account";
}

function unreadable(
  path: string,
  { subject, reader }: ClosedFile,
  reason: string,
  cause?: unknown,
): OpsError {
  return new OpsError({
    code: "SECRET_FILE_UNREADABLE",
    message: `Cannot read ${subject}: file ${path}: ${reason}`,
    hint: `Give the account that runs ${reader} a regular file with mode 0600 or 0400, or remove it`,
    cause,
  });
}

import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { OpsError } from "../errors.ts";
import { isRoot, trustedUids } from "../privileges.ts";
import { directoryFault, namesOf, octal } from "./directory-fault.ts";
import { readRegularFile } from "./regular-file.ts";

/** The bits of a mode that let group or others read or change a file; who may only execute it learns nothing of it. */
export const READ_OR_WRITTEN_BY_OTHERS = 0o066;

/** What puts a file right that was refused. */
const HINTS = {
  SECRET_FILE_EXPOSED:
    "Others may have read or written it: look at it, then close it (chmod 0600) or put a new value in its place",
  SECRET_FILE_UNTRUSTED:
    "Keep it in a directory of root or of the account that reads it, which no other account may write to, and give it " +
    "to that account, mode 0600; root reads only what is root's",
  SECRET_FILE_UNREADABLE:
    "Give the account that reads it a regular file with mode 0600 or 0400, or remove it",
};

/**
 * The text of a file that holds secrets; undefined where there is none.
 *
 * Shape:     `subject` is its name in messages ("secret X"); `isTrusted` accepts a mode that would be refused.
 * Behaviour: judges it by its descriptor: regular, closed to group and others, root's or this account's, in a directory
 *            that no other account may write to, or a sticky one. Links there are followed: vault agents and Kubernetes
 *            publish by them.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readClosedText(
  path: string,
  options: { subject: string; maxBytes?: number; isTrusted?: (stats: Stats) => boolean },
): string | undefined {
  const { subject, maxBytes = 1_048_576, isTrusted = () => false } = options;
  const refusal = (code: keyof typeof HINTS, why: string, cause?: unknown) =>
    new OpsError({ code, message: `Cannot read ${subject}: file ${path}${why}`, hint: HINTS[code], cause });
  const judge = (stats: Stats) => {
    if (stats.isFile() && (stats.mode & READ_OR_WRITTEN_BY_OTHERS) !== 0 && !isTrusted(stats)) {
      const mode = octal(stats.mode & 0o777);
      throw refusal(
        "SECRET_FILE_EXPOSED",
        ` has mode ${mode}, open to group or others, expected 0600 or 0400`,
      );
    }
    const fault = ownerFault(stats);
    if (fault !== null) throw refusal("SECRET_FILE_UNTRUSTED", ` was not used: ${fault}`);
  };
  try {
    // The directory first: in another account's a missing file does not lead to the next place.
    const fault = directoryFault(dirname(path), { mayBeSticky: true });
    if (fault !== null) throw refusal("SECRET_FILE_UNTRUSTED", ` was not used: ${fault}`);
    const bytes = readRegularFile(path, { maxBytes, judge, followLinks: true });
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (error instanceof OpsError) throw error;
    if (code === "ENOENT") return undefined;
    if (["ENOTFILE", "EFBIG"].includes(code)) throw refusal("SECRET_FILE_UNREADABLE", `: ${message}`);
    if (error instanceof TypeError) throw refusal("SECRET_FILE_UNREADABLE", ": it is not UTF-8 text");
    throw refusal("SECRET_FILE_UNREADABLE", `: ${fileSystemText(error)}`, error);
  }
}

/** Why a file is not used whose owner this account does not rely on; null where it does. */
function ownerFault({ uid }: Stats): string | null {
  const trusted = trustedUids();
  return trusted.includes(uid) ? null : `it belongs to ${namesOf([uid])}, expected ${namesOf(trusted)}`;
}

/** Whether the file system refused because of who asks: an ordinary account, to which a file or directory is closed. */
export function isClosedHere(error: unknown): boolean {
  const { code = "" } = Object(error) as NodeJS.ErrnoException;
  return ["EACCES", "EPERM"].includes(code) && !isRoot();
}

/** Why a file could not be read, for the error of the file system. */
export function fileSystemText(error: unknown): string {
  const { code = "an unknown error" } = Object(error) as NodeJS.ErrnoException;
  return isClosedHere(error) ? `this account may not read it (${code})` : `the file system answered ${code}`;
}

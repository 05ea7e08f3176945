import { isRoot } from "../account/account.ts";

const CODES: readonly (string | undefined)[] = ["EACCES", "EPERM"];

/** Whether the file system refused because of who asks: an ordinary account, to which a file or directory is closed. */
export function isClosedHere(error: unknown): boolean {
  const { code } = Object(error) as NodeJS.ErrnoException;
  return CODES.includes(code) && !isRoot();
}

/** Why a file could not be read, for the error of the file system. */
export function fileSystemText(error: unknown): string {
  const { code = "an unknown error" } = Object(error) as NodeJS.ErrnoException;
  return isClosedHere(error) ? `this account may not read it (${code})` : `the file system answered ${code}`;
}

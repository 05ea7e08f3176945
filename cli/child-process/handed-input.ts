import { readFileSync } from "node:fs";
import process from "node:process";

/** Says to a process that root started as the account that its standard input holds what root read for it. */
export const HANDED_INPUT = "OPSCTL_HANDED_INPUT";

const STDIN = 0;

/** What root read for this process before it gave up its privileges; null where it read nothing. */
export function handedInput(): string | null {
  return process.env[HANDED_INPUT] === "1" ? readFileSync(STDIN, "utf8") : null;
}

import { readFileSync } from "node:fs";
import process from "node:process";
import { nameInMark } from "../../lib/platform/account/started-by.ts";
import { closeMemory } from "./close-memory.ts";

/**
 * Says to a process that root started as the account that its standard input holds what root read for it.
 *
 * Behaviour: its value is the mark of that starter: in a shell that inherits it no command waits for its input.
 */
export const HANDED_INPUT = "OPSCTL_HANDED_INPUT";

const STDIN = 0;

/** What root read for this process before it gave up its privileges; null where it read nothing. */
export function handedInput(): string | null {
  return isHanded() ? readFileSync(STDIN, "utf8") : null;
}

/**
 * The same for a secret: closes this process before it reads.
 *
 * Shape: `isClosed` is false where other processes of the account can have it all the same.
 */
export function handedSecret(): { text: string; isClosed: boolean } | null {
  if (!isHanded()) return null;
  const isClosed = closeMemory();
  return { text: readFileSync(STDIN, "utf8"), isClosed };
}

function isHanded(): boolean {
  return nameInMark(process.env[HANDED_INPUT]) !== null;
}

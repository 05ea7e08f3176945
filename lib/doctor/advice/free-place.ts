import { readdirSync } from "node:fs";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import type { Step, Way } from "../../platform/files/trusted-path.ts";

const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;

/** Whether a path is in the system's directories: who may change files there can become root. */
export function isOfSystem(path: string): boolean {
  return SYSTEM.test(path);
}

/**
 * Whether a place is free: nothing is there, or an empty directory of root, and no account but root can change that.
 *
 * Behaviour: false for a directory of the system, also where a link leads to it.
 */
export function isFree({ steps, end }: Way): boolean {
  const isRoots = steps.every(isRootsAlone) && (end === null || isRootsAlone(end));
  if (!isRoots || steps.some(({ path }) => isOfSystem(path))) return false;
  return end === null || (end.kind === "directory" && readdirSync(end.path).length === 0);
}

function isRootsAlone({ kind, uid, mode }: Step): boolean {
  return uid === 0 && (kind === "link" || (mode & WRITABLE_BY_OTHERS) === 0);
}

import { readdirSync } from "node:fs";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import type { Step, Way } from "../../platform/files/trusted-path.ts";

const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;
/** Where each program has a directory of its own: in another's nothing is free, not even one that is empty now. */
const OF_PROGRAM = /^\/var\/(?:backups|cache|lib|log|mail|opt|www)\/(?!opsctl)./;
/** Every host has them, often empty, and everybody's places stand in them. */
const OF_ALL = ["/home", "/media", "/mnt", "/opt", "/srv"];

/** Whether a path is in the system's directories: who may change files there can become root. */
export function isOfSystem(path: string): boolean {
  return SYSTEM.test(path);
}

/**
 * Whether a place is free: nothing is there, or an empty directory of root, and no account but root can change that.
 *
 * Behaviour: false for a directory of the system, or of another program, also where a link leads to it.
 */
export function isFree({ steps, end }: Way): boolean {
  const isRoots = steps.every(isRootsAlone) && (end === null || isRootsAlone(end));
  const isOthers = (path: string) => isOfSystem(path) || OF_PROGRAM.test(path);
  if (!isRoots || steps.some(({ path }) => isOthers(path))) return false;
  if (end === null) return true;
  const isTaken = isOthers(end.path) || OF_ALL.includes(end.path) || end.kind !== "directory";
  return !isTaken && readdirSync(end.path).length === 0;
}

function isRootsAlone({ kind, uid, mode }: Step): boolean {
  return uid === 0 && (kind === "link" || (mode & WRITABLE_BY_OTHERS) === 0);
}

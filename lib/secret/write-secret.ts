import { lstatSync, readdirSync, type Stats, unlinkSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_SECRETS } from "../platform/config/known-secrets.ts";
import { OpsError } from "../platform/errors.ts";
import { isLeftover, writeFileAtomic } from "../platform/files/atomic-file.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { notWritten } from "./directory.ts";
import type { Place } from "./place.ts";

/** A temporary file lives for milliseconds: an older one was left by a run that was killed. */
const LEFTOVER_AFTER_MS = 60_000;

/**
 * Writes the file of a secret: a reader finds the old value or the whole new one, with owner and mode from the first
 * moment.
 *
 * Shape:     `isNew` says that there was no such file.
 * Behaviour: call `prepareDirectory` first. Removes what killed runs left in the directory.
 * Errors:    SECRET_NOT_WRITTEN; the old file is unchanged. FILE_UNTRUSTED.
 */
export function writeSecret(place: Place, secret: Secret, nowMs: number): { isNew: boolean } {
  const { owner, mode } = place.file;
  try {
    const isNew = lstatSync(place.path, { throwIfNoEntry: false }) === undefined;
    removeLeftovers(place.directory, nowMs);
    writeFileAtomic(place.path, secret.open(), { mode, owner });
    return { isNew };
  } catch (error) {
    if (error instanceof OpsError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw notWritten(place, code ?? "the file system failed", null);
  }
}

/** Whether a file in a directory of secrets is a temporary one that a killed run left. */
export function isOldLeftover(name: string, { mtimeMs }: Stats, nowMs: number): boolean {
  return KNOWN_SECRETS.some((secret) => isLeftover(name, secret.name)) && nowMs - mtimeMs > LEFTOVER_AFTER_MS;
}

function removeLeftovers(directory: string, nowMs: number): void {
  for (const name of readdirSync(directory)) {
    const stats = lstatSync(join(directory, name), { throwIfNoEntry: false });
    if (stats !== undefined && isOldLeftover(name, stats, nowMs)) unlinkSync(join(directory, name));
  }
}

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { KNOWN_SECRETS } from "../platform/config/known-secrets.ts";
import { type DirectoryFault, directoryFault } from "./directory.ts";
import type { Place } from "./place.ts";

/**
 * What a directory of secrets holds, without opening or following anything in it.
 *
 * Shape: `files` has what lies there by its name, a known secret's name also where it is missing (undefined) or where
 *        this process may not look (null).
 */
export type Look = { files: ReadonlyMap<string, Stats | null | undefined>; fault: DirectoryFault | null };

/** Looks at the directory of a place. */
export function lookAt(place: Place): Look {
  const names = new Set([...KNOWN_SECRETS.map(({ name }) => name), ...namesIn(place.directory)]);
  const files = new Map([...names].map((name) => [name, statsOf(join(place.directory, name))] as const));
  return { files, fault: faultOf(place) };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function statsOf(path: string): Stats | null | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR" ? undefined : null;
  }
}

/** Null also where this process may not look. */
function faultOf(place: Place): DirectoryFault | null {
  try {
    return directoryFault(place);
  } catch {
    return null;
  }
}

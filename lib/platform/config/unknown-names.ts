import { nearest } from "../nearest.ts";
import { ENV_FILES, settingOf, settingsOfFile } from "./settings-table.ts";

/**
 * A name in an environment file that no command reads there.
 *
 * Shape: `meant` is the name of that file which it resembles, or null; `readIn` are the files in which a command does
 *        read it.
 */
export type UnknownSetting = { name: string; meant: string | null; readIn: string[] };

/** A file among the secrets that no command reads; `meant` is null for a setting that is no secret. */
export type UnknownSecret = { name: string; meant: string | null };

/** Of more names than this the rest has nothing new to say. */
const MOST = 20;
/**
 * Those of the names set in an environment file that have no effect there: settings of another file, names of opsctl's
 * own kind that it does not have, and names that resemble a setting. Other names belong to others.
 */
export function unknownSettings(file: string, names: readonly string[]): UnknownSetting[] {
  const known = settingsOfFile(file);
  // What no file sets is not meant there.
  const candidates = known.filter((name) => settingOf(name)?.terminal !== true);
  return names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const isSetting = settingOf(name) !== null;
      const readIn = isSetting ? ENV_FILES.filter((other) => settingsOfFile(other).includes(name)) : [];
      return { name, meant: isSetting ? null : (nearest(name, candidates) ?? null), readIn };
    })
    .filter(({ name, meant, readIn }) => meant !== null || readIn.length > 0 || name.startsWith("OPSCTL_"))
    .slice(0, MOST);
}

/** What is to be said of an unknown setting, behind "sets". */
export function unknownText({ name, meant, readIn }: UnknownSetting): string {
  if (readIn.length > 0) return `${name}, which has no effect there: it is read in ${readIn.join(", ")}`;
  if (meant !== null) return `${name}, which nothing reads; did you mean ${meant}?`;
  return `${name}, which nothing reads: opsctl has no such setting`;
}

/**
 * Those of the files in a directory of secrets that look as if they were meant for opsctl, given the secrets that are
 * looked for there. A file beside the one that it resembles is a copy that a person keeps.
 */
export function unknownSecrets(files: readonly string[], secrets: readonly string[]): UnknownSecret[] {
  return files
    .filter((name) => settingOf(name)?.secret === undefined)
    .map((name) => ({ name, meant: settingOf(name) === null ? nearest(name, secrets) : null }))
    .flatMap(({ name, meant }) =>
      meant === undefined || files.includes(meant ?? "") ? [] : [{ name, meant }],
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, MOST);
}

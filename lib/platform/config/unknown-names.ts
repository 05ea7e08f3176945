import { nearest } from "../nearest.ts";
import { ENV_FILES, isSecret, settingOf, settingsOfFile } from "./settings-table.ts";

/** A file among the secrets that no command reads; `meant` is null for a setting that is no secret. */
export type UnknownSecret = { name: string; meant: string | null };

/** Of more names than this the rest has nothing new to say. */
const MOST = 20;

/**
 * What is to be said, behind "sets", of names in an environment file that have no effect there: settings of another file,
 * names of opsctl's own kind that it does not have, and names that resemble a setting. Other names belong to others.
 */
export function unknownSettings(file: string, names: readonly string[]): string[] {
  const known = settingsOfFile(file);
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const readIn = ENV_FILES.filter((other) => settingsOfFile(other).includes(name));
      if (readIn.length > 0) return `${name}, which has no effect there: it is read in ${readIn.join(", ")}`;
      const meant = nearest(name, known);
      if (meant !== undefined) return `${name}, which nothing reads; did you mean ${meant}?`;
      return name.startsWith("OPSCTL_")
        ? `${name}, which nothing reads: opsctl has no such setting there`
        : [];
    })
    .slice(0, MOST);
}

/**
 * Those of the files in a directory of secrets that look as if they were meant for opsctl, given the secrets that are
 * looked for there. A file beside the one that it resembles is a copy that a person keeps.
 */
export function unknownSecrets(files: readonly string[], secrets: readonly string[]): UnknownSecret[] {
  return files
    .flatMap((name) => {
      const setting = settingOf(name);
      if (setting !== null) return isSecret(setting) ? [] : { name, meant: null };
      const meant = nearest(name, secrets);
      return meant === undefined || files.includes(meant) ? [] : { name, meant };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, MOST);
}

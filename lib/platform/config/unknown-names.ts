import { nearest } from "../nearest.ts";
import { ENV_FILES, settingsOfFile } from "./settings-table.ts";

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

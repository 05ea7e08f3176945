import { namesMeant } from "../names-meant.ts";
import { SETTINGS_FILES, settingsOfFile } from "./known-settings.ts";

/**
 * A name in an environment file that no command reads there.
 *
 * Shape: `meant` are the names of that file which it resembles, `readIn` the files in which a command does read it; both
 *        are empty for a name of opsctl's own kind that it does not have.
 */
export type OddSetting = { name: string; meant: string[]; readIn: string[] };

const OURS = "OPSCTL_";
/** More than the longest name with a slip of the pen. */
const LONGEST_NAME = 80;

/**
 * Those of the names set in an environment file that look as if they were meant for opsctl and have no effect there.
 *
 * Behaviour: a foreign name that resembles nothing is none of them: a secrets command may have settings of its own.
 */
export function oddSettings(file: string, names: Iterable<string>): OddSetting[] {
  const known = settingsOfFile(file);
  return [...names]
    .filter((name) => name.length <= LONGEST_NAME && !known.includes(name))
    .flatMap((name) => {
      const readIn = SETTINGS_FILES.filter((other) => settingsOfFile(other).includes(name));
      const meant = readIn.length > 0 ? [] : namesMeant(name, known);
      const isOdd = readIn.length > 0 || meant.length > 0 || name.startsWith(OURS);
      return isOdd ? [{ name, meant, readIn }] : [];
    });
}

/** What is to be said of it behind "sets", and what is to be done with its line. */
export function oddSettingTexts({ name, meant, readIn }: OddSetting): { what: string; todo: string } {
  if (readIn.length > 0)
    return {
      what: `${name}, which has no effect there: it is read in ${readIn.join(", ")}`,
      todo: `Move ${name} to ${readIn.join(" or ")}`,
    };
  if (meant.length > 0)
    return {
      what: `${name}, which nothing reads; did you mean ${meant.join(" or ")}?`,
      todo: `Rename ${name}, or take it out`,
    };
  return { what: `${name}, which nothing reads: opsctl has no such setting`, todo: `Take ${name} out` };
}

import { nameMeant } from "../../name-meant.ts";
import { isRootsFile } from "../env-files/command-file.ts";
import { isOfOtherPrograms, SETTINGS_FILES, settingsOfFile } from "./known-settings.ts";

/**
 * A name in an environment file that no command reads there.
 *
 * Shape: `meant` is the name of that file which it resembles, or null; `readIn` are the files in which a command does
 *        read it. A name of opsctl's own kind that it does not have has neither.
 */
export type OddSetting = { name: string; meant: string | null; readIn: string[] };

/** The first of them, and how many there are besides. */
export type OddSettings = { told: OddSetting[]; more: number };

const OURS = "OPSCTL_";
/** More than the longest name with a slip of the pen. */
const LONGEST_NAME = 80;
/** A file with more is no file of settings, and the rest has nothing new to say. */
const MOST_TOLD = 20;
/** So many foreign names are compared with the known ones. */
const MOST_COMPARED = 500;
/** The program that it names may have settings of its own in the file. */
const SECRETS_COMMAND = "OPSCTL_SECRETS_COMMAND";

/**
 * Those of the names set in an environment file that look as if they were meant for opsctl and have no effect there.
 *
 * Behaviour: a foreign name that resembles nothing is not one. Where the file names a secrets command, the names
 *            that other programs read, too, and parts of names are none either. The time is linear in the number of
 *            names.
 */
export function oddSettings(file: string, names: readonly string[]): OddSettings {
  const known = new Set(settingsOfFile(file));
  const candidates = [...known].filter((name) => !isOfOtherPrograms(name));
  const hasCommand = names.includes(SECRETS_COMMAND);
  const readIn = (name: string) => (hasCommand && isOfOtherPrograms(name) ? [] : (READ_IN.get(name) ?? []));
  const isOurs = (name: string) => name.startsWith(OURS) || readIn(name).length > 0;
  const meantBy = (name: string) => nameMeant(name, candidates, { withParts: !hasCommand }) ?? null;
  const strange = names.filter((name) => name.length <= LONGEST_NAME && !known.has(name));
  const foreign = strange.filter((name) => !isOurs(name)).slice(0, MOST_COMPARED);
  const alike = new Set(foreign.filter((name) => meantBy(name) !== null));
  const odd = strange.filter((name) => isOurs(name) || alike.has(name));
  const told = odd.slice(0, MOST_TOLD).map((name) => {
    const files = readIn(name);
    return { name, meant: files.length > 0 ? null : meantBy(name), readIn: files };
  });
  return { told, more: odd.length - told.length };
}

/** The files in which each known name is read. */
const READ_IN = filesByName();

function filesByName(): ReadonlyMap<string, string[]> {
  const files = new Map<string, string[]>();
  for (const file of SETTINGS_FILES)
    for (const name of settingsOfFile(file)) files.set(name, [...(files.get(name) ?? []), file]);
  return files;
}

/**
 * What is to be said of it behind "sets", and what is to be done with its line.
 *
 * Behaviour: nobody is told to move it to a file of root's: whoever wrote the value would choose where root's secret is
 *            sent.
 */
export function oddSettingTexts({ name, meant, readIn }: OddSetting): { what: string; todo: string } {
  const places = readIn.filter((file) => !isRootsFile(file));
  if (readIn.length > 0)
    return {
      what: `${name}, which has no effect there: it is read in ${readIn.join(", ")}`,
      todo: places.length > 0 ? `Move ${name} to ${places.join(" or ")}` : `Take ${name} out`,
    };
  if (meant !== null)
    return {
      what: `${name}, which nothing reads; did you mean ${meant}?`,
      todo: `Rename ${name}, or take it out`,
    };
  return { what: `${name}, which nothing reads: opsctl has no such setting`, todo: `Take ${name} out` };
}

import { wayTo } from "../../platform/files/trusted-path.ts";
import { CHANGES, pathsIn, safeMend } from "./safe-mend.ts";

/**
 * Whose word a line is, the directories in which that account may be given anything, and those of settings, where root's
 * own stand beside the account's.
 */
export type ToldBy = {
  name: string;
  uid: number;
  places: readonly string[];
  settings: readonly string[];
};

/** What a shell reads as more than a word; `&&` between two commands is doctor's own. */
const SHELL_READS = /[;|`$(){}\\"'*?[\]!~<>\n]|&(?!& )(?<! &&)/;
/** A word that the person replaces. */
const TO_FILL_IN = /<[a-z]+>/g;
/** A line that changes something, also behind what has to be done before. */
const AFTER = /^(?:[^:]*\bthen: )?/;
/** The lines that doctor itself writes: nothing recursive, and every path an absolute one. */
const COMMAND =
  /^(?:chown(?: -h)? \S+ \/\S*|chmod \S+ \/\S*|rmdir \/\S*|mv \/\S* \/\S*|install(?: -[dD]| -[mog] \w+)+(?: \/dev\/(?:stdin|null))? (?:\/\S*|<directory>, then name it in [A-Z_]+))$/;
/** Lets accounts pass through a directory and do nothing else there, or takes from them what they could do. */
const PASS_THROUGH = /^chmod (?:o\+x|go-w) /;
/** What is root's in a directory of settings. */
const ROOTS_SETTINGS = /^(?:collect-metrics\.env.*|root-secrets(?:\/.*)?)$/;
/** Where the host keeps what makes an account root. */
const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;

/**
 * The line that mends a finding of another account's checks; where that line would change what is not that account's, a
 * sentence that says so.
 *
 * Behaviour: the paths in such a line come from settings that the account writes, and the person who runs it is root.
 *            The line stays when it names what is in `places` or the account's in `settings`, what the account owns, or
 *            what is not there yet outside the system's own directories.
 */
export function toldMend(mend: string, by: ToldBy): string {
  const line = mend.replace(AFTER, "");
  if (!CHANGES.test(line)) return mend;
  const [command = ""] = line.split(" #");
  if (SHELL_READS.test(command.replace(TO_FILL_IN, "")))
    return "Correct the setting: its path has characters that a shell reads in a way of its own";
  const paths = pathsIn(command);
  if (!command.split(" && ").every((one) => COMMAND.test(one)))
    return "Correct the setting: its path is not absolute, or has a blank";
  const isPassing = PASS_THROUGH.test(command);
  const foreign = paths.find((path) => !isFor(path, by, isPassing));
  if (foreign === undefined) return safeMend(mend);
  return `Correct the setting: ${foreign} is not for ${by.name}; such a place is /var/lib/opsctl or /var/log/opsctl`;
}

/** The directory itself and that of the secrets stay root's; the account only passes through them. */
function isAmongSettings(name: string, isPassing: boolean): boolean {
  if (["", "secrets", "secrets/"].includes(name)) return isPassing;
  return !ROOTS_SETTINGS.test(name);
}

function isFor(path: string, { uid, places, settings }: ToldBy, isPassing: boolean): boolean {
  if (path.split("/").some((part) => part === ".." || part === ".") || path.includes("//")) return false;
  if (places.some((place) => `${path}/`.startsWith(`${place}/`))) return true;
  const directory = settings.find((one) => `${path}/`.startsWith(`${one}/`));
  if (directory !== undefined) return isAmongSettings(path.slice(directory.length + 1), isPassing);
  try {
    const { steps, end } = wayTo(path);
    return end === null ? !SYSTEM.test(steps.at(-1)?.path ?? "/") : end.uid === uid;
  } catch {
    return false;
  }
}

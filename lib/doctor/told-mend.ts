import { wayTo } from "../platform/trusted-path.ts";
import { CHANGES, pathsIn, safeMend } from "./safe-mend.ts";

/** Whose word a line is, and the directories in which that account may be given anything. */
export type ToldBy = { name: string; uid: number; places: readonly string[] };

/** What a shell reads as more than a word; `&&` between two commands is doctor's own. */
const SHELL_READS = /[;|`$(){}\\"'*?[\]!~<>\n]|&(?!& )(?<! &&)/;
/** A word that the person replaces. */
const TO_FILL_IN = /<[a-z]+>/g;
/** Where the host keeps what makes an account root. */
const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;

/**
 * The line that mends a finding of another account's checks; where that line would change what is not that account's, a
 * sentence that says so.
 *
 * Behaviour: the paths in such a line come from settings that the account writes, and the person who runs it is root.
 *            The line stays when it names what is in `places`, what the account owns, or what is not there yet outside
 *            the system's own directories.
 */
export function toldMend(mend: string, by: ToldBy): string {
  if (!CHANGES.test(mend)) return mend;
  const [command = ""] = mend.split(" #");
  if (SHELL_READS.test(command.replace(TO_FILL_IN, "")))
    return "Correct the setting: its path has characters that a shell reads in a way of its own";
  const paths = pathsIn(command);
  if (paths.length === 0 && !command.includes("<")) return "Correct the setting: its path is not absolute";
  const foreign = paths.find((path) => !isFor(path, by));
  if (foreign === undefined) return safeMend(mend);
  return `Correct the setting: ${foreign} is not for ${by.name}; such a place is /var/lib/opsctl or /var/log/opsctl`;
}

function isFor(path: string, { uid, places }: ToldBy): boolean {
  if (path.split("/").includes("..")) return false;
  if (places.some((place) => `${path}/`.startsWith(`${place}/`))) return true;
  try {
    const { steps, end } = wayTo(path);
    return end === null ? !SYSTEM.test(steps.at(-1)?.path ?? "/") : end.uid === uid;
  } catch {
    return false;
  }
}

import { wayTo } from "../../platform/files/trusted-path.ts";
import { CHANGES, pathsIn, safeMend } from "./safe-mend.ts";

/**
 * The account that reports a finding; `directories` may hold anything of that account, `settings` are directories where
 * files of root stand beside files of the account.
 */
export type Reporter = {
  name: string;
  uid: number;
  directories: readonly string[];
  settings: readonly string[];
};

/** What a shell reads as more than a plain word; `&&` between two commands is allowed, because doctor writes it. */
const SHELL_READS = /[;|`$(){}\\"'*?[\]!~<>\n]|&(?!& )(?<! &&)/;
/** A placeholder that the person replaces. */
const TO_FILL_IN = /<[a-z]+>/g;
/** What a line may say before the command: `Remove it there, then: `. */
const BEFORE_COMMAND = /^(?:[^:]*\bthen: )?/;
/** The commands that doctor itself writes: none is recursive, and every path is absolute. */
const COMMAND =
  /^(?:chown(?: -h)? \S+ \/\S*|chmod \S+ \/\S*|rmdir \/\S*|mv \/\S* \/\S*|install(?: -[dD]| -[mog] \w+)+(?: \/dev\/(?:stdin|null))? (?:\/\S*|<directory>, then name it in [A-Z_]+))$/;
/** Lets accounts pass through a directory and nothing more, or takes rights away. */
const PASS_THROUGH = /^chmod (?:o\+x|go-w) /;
/** The files of root in a directory of settings. */
const ROOTS_SETTINGS = /^(?:collect-metrics\.env.*|root-secrets(?:\/.*)?)$/;
/** The system's directories: who may change files there can become root. */
const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;

/**
 * The line that mends a finding which another account reports; where the line would change a file that is not for that
 * account, a sentence that says so.
 *
 * Behaviour: the paths in such a line come from settings that the account writes, and root runs the line. The line stays
 *            when it names a path in `directories`, a path of the account in `settings`, a file that the account owns,
 *            or a path outside the system's directories that does not exist yet.
 */
export function reportedMend(mend: string, reporter: Reporter): string {
  const line = mend.replace(BEFORE_COMMAND, "");
  if (!CHANGES.test(line)) return mend;
  const [command = ""] = line.split(" #");
  if (SHELL_READS.test(command.replace(TO_FILL_IN, "")))
    return "Correct the setting: its path has characters that a shell reads in a way of its own";
  const paths = pathsIn(command);
  if (!command.split(" && ").every((one) => COMMAND.test(one)))
    return "Correct the setting: its path is not absolute, or has a blank";
  const isPassing = PASS_THROUGH.test(command);
  const foreign = paths.find((path) => !isFor(path, reporter, isPassing));
  if (foreign === undefined) return safeMend(mend);
  return `Correct the setting: ${foreign} is not for ${reporter.name}; such a place is /var/lib/opsctl or /var/log/opsctl`;
}

/** The directory itself and its folder of secrets stay root's: the account may only pass through them. */
function isAmongSettings(name: string, isPassing: boolean): boolean {
  if (["", "secrets", "secrets/"].includes(name)) return isPassing;
  return !ROOTS_SETTINGS.test(name);
}

function isFor(path: string, { uid, directories, settings }: Reporter, isPassing: boolean): boolean {
  if (path.split("/").some((part) => part === ".." || part === ".") || path.includes("//")) return false;
  if (directories.some((one) => `${path}/`.startsWith(`${one}/`))) return true;
  const directory = settings.find((one) => `${path}/`.startsWith(`${one}/`));
  if (directory !== undefined) return isAmongSettings(path.slice(directory.length + 1), isPassing);
  try {
    const { steps, end } = wayTo(path);
    return end === null ? !SYSTEM.test(steps.at(-1)?.path ?? "/") : end.uid === uid;
  } catch {
    return false;
  }
}

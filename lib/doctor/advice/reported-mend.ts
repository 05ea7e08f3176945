import { wayTo } from "../../platform/files/trusted-path.ts";
import { isKnownAdvice } from "./known-advice.ts";
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
/** What doctor writes before such a command. */
const BEFORE_COMMAND = "Remove it there, then: ";
/** What doctor writes behind one. */
const NOTES = ["then fill it in", "unless others need it, as /tmp: then name another directory"];
/** A command that changes files: none is recursive, and every path is absolute. */
const COMMAND =
  /^(?:chown(?: -h)? \S+ \/\S*|chmod \S+ \/\S*|rmdir \/\S*|mv \/\S* \/\S*|install(?: -[dD]| -[mog] \w+)+(?: \/dev\/(?:stdin|null))? (?:\/\S*|<directory>, then name it in [A-Z_]+))$/;
/** Lets accounts pass through a directory and nothing more, or takes rights away. */
const PASS_THROUGH = /^chmod (?:o\+x|go-w) /;
/** The files of root in a directory of settings. */
const ROOTS_SETTINGS = /^(?:collect-metrics\.env.*|root-secrets(?:\/.*)?)$/;
/** The system's directories: who may change files there can become root. */
const SYSTEM = /^\/(?:etc|root|usr|boot|bin|sbin|lib\w*|proc|sys|dev|run|var\/spool)(?:\/|$)/;

/**
 * The line that mends a finding which another account reports, as root may see it.
 *
 * Behaviour: root runs the line, and the account may have written any text. Advice that opsctl itself writes stays; a line
 *            that changes files stays where owner and mode are those that opsctl writes and every path is for the account:
 *            in `directories`, a path of the account in `settings`, a file that the account owns, or a path outside the
 *            system's directories that does not exist yet. Instead of another such line there is a sentence that says what
 *            is wrong with it. Any other text is shown as what the account says.
 */
export function reportedMend(mend: string, reporter: Reporter): string {
  if (isKnownAdvice(mend)) return mend;
  const line = mend.startsWith(BEFORE_COMMAND) ? mend.slice(BEFORE_COMMAND.length) : mend;
  if (!CHANGES.test(line)) return `The account ${reporter.name} says: ${mend}`;
  return faultOf(line, reporter) ?? safeMend(mend);
}

/** Why root must not run a line that changes files; null when it may. */
function faultOf(line: string, reporter: Reporter): string | null {
  const [command = "", note] = line.split(" # ");
  const parts = command.split(" && ");
  if (SHELL_READS.test(command.replace(TO_FILL_IN, "")))
    return "Correct the setting: its path has characters that a shell reads in a way of its own";
  if (!parts.every((part) => COMMAND.test(part)))
    return "Correct the setting: its path is not absolute, or has a blank";
  const foreign = parts.map((part) => foreignPath(part, reporter)).find((path) => path !== undefined);
  if (foreign !== undefined)
    return `Correct the setting: ${foreign} is not for ${reporter.name}; such a place is /var/lib/opsctl or /var/log/opsctl`;
  const isWritten = writtenBy(reporter.name);
  if (parts.every((part) => isWritten.test(part)) && (note === undefined || NOTES.includes(note)))
    return null;
  return `Look at what the finding names: the account ${reporter.name} reports a command that opsctl does not write`;
}

/** The commands as the checks of the account write them: no other owner, no other mode. */
function writtenBy(name: string): RegExp {
  const options = `(?: -o ${name})?(?: -g ${name})?`;
  return new RegExp(
    `^(?:${[
      `chown -h ${name}(?::${name})? \\S+`,
      "chmod (?:0600|o\\+x|go-w) \\S+",
      "mv (\\S+) \\1\\.old",
      "mv (\\S*/)\\S+ \\2[A-Z][A-Z0-9_]*",
      `install -D -m 0600${options} /dev/(?:stdin|null) \\S+`,
      `install -d${options} -m (?:0700|0755) .+`,
    ].join("|")})$`,
  );
}

function foreignPath(part: string, reporter: Reporter): string | undefined {
  const isPassing = PASS_THROUGH.test(part);
  return pathsIn(part).find((path) => !isFor(path, reporter, isPassing));
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

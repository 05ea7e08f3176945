import { basename, dirname } from "node:path";
import { oddSecrets } from "../../platform/config/odd-secrets.ts";
import { isKnownAdvice } from "./known-advice.ts";
import { isKnownSql } from "./known-sql.ts";
import { isPathOf, mayBeNamed, type Reporter } from "./path-of-reporter.ts";
import { CHANGES, pathsIn, safeMend } from "./safe-mend.ts";

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
  /^(?:chown(?: -h)? \S+ \/\S*|chmod \S+ \/\S*|rmdir \/\S*|mv -nT \/\S* \/\S*|install(?: -[dD]| -[mog] \w+)+(?: \/dev\/(?:stdin|null))? (?:\/\S*|<directory>, then name it in [A-Z_]+))$/;
/** Lets accounts pass through a directory and nothing more, or takes rights away. */
const PASS_THROUGH = /^chmod (?:o\+x|go-w) /;
/**
 * The line that mends a finding which another account reports, as root may see it.
 *
 * Behaviour: root runs the line, and the account may have written any text. Advice that opsctl itself writes stays where
 *            every name in it is known and every path is the account's; SQL stays where root knows each of its names. A
 *            line that changes files stays where owner and mode are those that opsctl writes and every path is the
 *            account's, as `isPathOf` says. Instead of another such line there is a sentence that says what is wrong with
 *            it. Any other text is shown as what the account says.
 */
export function reportedMend(mend: string, reporter: Reporter): string {
  if (isKnownSql(mend)) return mend;
  if (isKnownAdvice(mend, (path, slot) => mayBeNamed(reporter, path, slot))) return mend;
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
      "mv -nT (\\S+) \\1\\.old",
      "mv -nT (\\S*/)\\S+ \\2[A-Z][A-Z0-9_]*",
      `install -D -m 0600${options} /dev/(?:stdin|null) \\S+`,
      `install -d${options} -m (?:0700|0755) .+`,
    ].join("|")})$`,
  );
}

function foreignPath(part: string, reporter: Reporter): string | undefined {
  const isPassing = PASS_THROUGH.test(part);
  const paths = pathsIn(part);
  return paths.find((path) => !isPathOf(reporter, path, isPassing) && !isSlip(path, paths));
}

/** The first path of `mv`, a secret's file whose name is a slip of the pen for that of the second. */
function isSlip(path: string, [from = "", to = ""]: readonly string[]): boolean {
  if (path !== from || dirname(from) !== dirname(to)) return false;
  const [odd] = oddSecrets([basename(from)], { secrets: [basename(to)], plain: [] });
  return odd?.meant === basename(to);
}

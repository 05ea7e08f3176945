import { basename, dirname } from "node:path";
import { oddSecrets } from "../../platform/config/odd-secrets.ts";
import { lineAsAccount } from "./as-account.ts";
import { isExchangeable } from "./exchangeable.ts";
import { isKnownAdvice } from "./known-advice.ts";
import { isKnownSql } from "./known-sql.ts";
import { isPathOf, mayBeNamed } from "./path-of-reporter.ts";
import { refusedPath } from "./refused-path.ts";
import type { Reporter } from "./reporter.ts";
import { CHANGES, pathsIn, safeMend } from "./safe-mend.ts";

/** What a shell reads as more than a plain word; `&&` between two commands is allowed, because doctor writes it. */
const SHELL_READS = /[;|`$(){}\\"'*?[\]!~<>\n]|&(?!& )(?<! &&)/;
/** A placeholder that the person replaces. */
const TO_FILL_IN = /<[a-z]+>/g;
/** What doctor writes before such a command. */
const BEFORE_COMMAND = /^(?:Remove it there, then|Look at it, then move it away): /;
/** What doctor writes behind one. */
const NOTES = ["then fill it in", "unless others need it, as /tmp: then name another directory"];
/** A command that changes files: none is recursive, and every path is absolute. */
const COMMAND =
  /^(?:chown(?: -h)? \S+ \/\S*|chmod \S+ \/\S*|rmdir \/\S*|mv -nT \/\S* \/\S*|install(?: -[dD]| -[mog] \w+)+(?: \/dev\/(?:stdin|null))? (?:\/\S*|<directory>, then name it in [A-Z_]+))$/;
/** Lets accounts pass through a directory and nothing more, or takes rights away. */
const PASS_THROUGH = /^chmod (?:o\+x|go-w) /;

/** A line that changes files: what is said before it, its commands, and the note behind them. */
type Line = { before: string; command: string; note: string | undefined };

/**
 * The line that mends a finding which another account reports, as root may see it.
 *
 * Behaviour: root runs the line, and the account may have written any text. What root has said first stays. Advice that opsctl
 *            itself writes stays where every name in it is known and every path is the account's; SQL stays where root
 *            knows each of its names. A line that changes files stays where owner and mode are those that opsctl writes
 *            and every path is the account's, as `isPathOf` says; where the account could lead it elsewhere meanwhile, it
 *            is to be run as the account. Instead of another such line there is a sentence that says what is wrong with
 *            it and what to do. Any other text is shown as what the account says.
 */
export function reportedMend(mend: string, reporter: Reporter): string {
  if (isKnownSql(mend) || mend === reporter.ownAdvice) return mend;
  if (isKnownAdvice(mend, (path, slot) => mayBeNamed(reporter, path, slot))) return mend;
  const [before = ""] = BEFORE_COMMAND.exec(mend) ?? [];
  const [command = "", note] = mend.slice(before.length).split(" # ");
  if (!CHANGES.test(command)) return `The account ${reporter.name} says: ${mend}`;
  return faultOf({ before, command, note }, reporter) ?? stableLine({ before, command, note }, reporter);
}

/** Why root must not run a line that changes files; null when it may. */
function faultOf({ command, note }: Line, reporter: Reporter): string | null {
  const parts = command.split(" && ");
  if (SHELL_READS.test(command.replace(TO_FILL_IN, "")))
    return "Correct the setting: its path has characters that a shell reads in a way of its own";
  if (!parts.every((part) => COMMAND.test(part)))
    return "Correct the setting: its path is not absolute, or has a blank";
  for (const part of parts) {
    const foreign = foreignPath(part, reporter);
    if (foreign !== undefined) return refusedPath(foreign, part, reporter);
  }
  const isWritten = writtenBy(reporter.name);
  if (parts.every((part) => isWritten.test(part)) && (note === undefined || NOTES.includes(note)))
    return null;
  return `Look at what the finding names: the account ${reporter.name} reports a command that opsctl does not write`;
}

/** The line as it is, or as the account can run it, where root could be led elsewhere when it runs it. */
function stableLine({ before, command, note }: Line, reporter: Reporter): string {
  const behind = note === undefined ? "" : ` # ${note}`;
  if (!pathsIn(command).some((path) => isExchangeable(path, reporter)))
    return `${before}${safeMend(command)}${behind}`;
  return `${before}${lineAsAccount(command, reporter.name)}${behind}`;
}

/** The commands as the checks of the account write them: no other owner, no other mode. */
function writtenBy(name: string): RegExp {
  const options = `(?: -o ${name})?(?: -g ${name})?`;
  return new RegExp(
    `^(?:${[
      `chown -h ${name}(?::${name})? \\S+`,
      "chmod (?:0600|o\\+x|go-w) \\S+",
      "mv -nT (\\S+) \\1\\.(?:old|foreign)",
      "mv -nT (\\S*/)\\S+ \\2[A-Z][A-Z0-9_]*",
      `install -D -m 0600${options} /dev/(?:stdin|null) \\S+`,
      `install -d${options} -m (?:0700|0755) .+`,
    ].join("|")})$`,
  );
}

/** A path that root must not change for the account; where that one may exchange it, the line is not root's to run. */
function foreignPath(part: string, reporter: Reporter): string | undefined {
  const isPassing = PASS_THROUGH.test(part);
  const paths = pathsIn(part);
  return paths.find(
    (path) => !isExchangeable(path, reporter) && !isPathOf(reporter, path, isPassing) && !isSlip(path, paths),
  );
}

/** The first path of `mv`, a secret's file whose name is a slip of the pen for that of the second. */
function isSlip(path: string, [from = "", to = ""]: readonly string[]): boolean {
  if (path !== from || dirname(from) !== dirname(to)) return false;
  const [odd] = oddSecrets([basename(from)], { secrets: [basename(to)], plain: [] });
  return odd?.meant === basename(to);
}

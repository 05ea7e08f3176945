import { basename, dirname } from "node:path";
import { oddSecrets } from "../../platform/config/names/odd-secrets.ts";
import { ROOT_SECRETS } from "../../platform/secrets/file.ts";
import { accountSays } from "./account-says.ts";
import { type ChangingLine, type Command, changingLineText, parseChangingLine } from "./changing-line.ts";
import { doubtfulDirectoryOn, isExchangeable } from "./exchangeable.ts";
import { isKnownAdvice } from "./known-advice.ts";
import { isKnownSql } from "./known-sql.ts";
import { isPathOf, mayBeNamed } from "./path-of-reporter.ts";
import { doubtfulDirectory, refusedPath } from "./refused-path.ts";
import type { Reporter } from "./reporter.ts";
import { lookFirst, ODD_PATH } from "./safe-mend.ts";

/** Let accounts pass through a directory and nothing more, or take rights away. */
const PASS_THROUGH = ["chmod o+x PATH", "chmod go-w PATH"];

/**
 * The line that mends a finding which another account reports, as root may see it.
 *
 * Behaviour: root runs the line, and the account may have written any text. What root has said first stays. Advice that
 *            opsctl itself writes stays where every name in it is known and every path is the account's; SQL stays
 *            where root knows each of its names. A line that changes files stays where owner and mode are those that
 *            opsctl writes and every path is the account's, as `isPathOf` says; where the account could lead it
 *            elsewhere meanwhile, it is to be run as the account. Instead of another such line there is a sentence that
 *            says what is wrong with it and what to do. Any other text is shown as what the account says.
 */
export function reportedMend(mend: string, reporter: Reporter): string {
  if (isKnownSql(mend) || mend === reporter.ownAdvice) return mend;
  if (isKnownAdvice(mend, (path, slot) => mayBeNamed(reporter, path, slot))) return mend;
  const line = parseChangingLine(mend);
  if (line.status === "other") return accountSays(reporter.name, mend);
  if (line.status === "odd") return ODD_PATH;
  if (line.status === "unknown") return notWritten(reporter);
  return faultOf(line, reporter) ?? stableLine(line, reporter);
}

/** Why root must not run a line that changes files; null when it may. */
function faultOf({ commands }: ChangingLine, reporter: Reporter): string | null {
  for (const command of commands) {
    const foreign = foreignPath(command, reporter);
    if (foreign !== undefined) return refusal(foreign, command, reporter);
  }
  return commands.every((command) => isWrittenFor(command, reporter)) ? null : notWritten(reporter);
}

function notWritten({ name }: Reporter): string {
  return `Look at what the finding names: the account ${name} reports a command that opsctl does not write`;
}

/** The line as it is, or as the account can run it, where root could be led elsewhere when it runs it. */
function stableLine(line: ChangingLine, reporter: Reporter): string {
  const paths = line.commands.flatMap((command) => command.paths);
  if (!paths.some((path) => isExchangeable(path, reporter))) return lookFirst(line) ?? changingLineText(line);
  const doubtful = paths.flatMap((path) => doubtfulDirectoryOn(path, reporter) ?? []).at(0);
  if (doubtful !== undefined) return doubtfulDirectory(doubtful, reporter);
  const commands = line.commands.map((command) => commandAsAccount(command, reporter.name));
  return changingLineText({ ...line, commands });
}

/**
 * A command that changes files, as the account itself runs it: in directories that it owns, it could put a link between
 * the advice and the moment in which root follows it.
 *
 * Behaviour: an account gives away no file and takes none over: what belongs to another is moved away instead. `--pty`
 *            gives each command a terminal of its own, because into root's terminal the account could type.
 */
function commandAsAccount(command: Command, account: string): Command {
  return { ...command, words: ["runuser", "--pty", "-u", account, "--", ...ownWords(command)] };
}

function ownWords({ words, form, paths: [path = ""] }: Command): readonly string[] {
  if (form.startsWith("chown ")) return ["mv", "-nT", path, `${path}.old`];
  return words.filter((word, at) => ![word, words[at - 1]].some((one) => one === "-o" || one === "-g"));
}

/** Whether the checks of the account write this command: no other owner, no other name for what is moved. */
function isWrittenFor({ form, names, paths, isOfAccount }: Command, { name }: Reporter): boolean {
  if (!isOfAccount || names.some((one) => one !== name)) return false;
  const [from = "", to = ""] = paths;
  if (!form.startsWith("mv ")) return true;
  if ([`${from}.old`, `${from}.foreign`].includes(to)) return true;
  return dirname(from) === dirname(to) && /^[A-Z][A-Z0-9_]*$/.test(basename(to));
}

/** A path that root must not change for the account; where that one may exchange it, the line is not root's to run. */
function foreignPath({ form, paths }: Command, reporter: Reporter): string | undefined {
  const isPassing = PASS_THROUGH.includes(form);
  return paths.find((path) => {
    if (isRootsSecret(path)) return true;
    if (isPathOf(reporter, path, isPassing) || isSlip(path, paths)) return false;
    return !isExchangeable(path, reporter) || doubtfulDirectoryOn(path, reporter) !== null;
  });
}

function refusal(path: string, { words }: Command, reporter: Reporter): string {
  if (!isRootsSecret(path)) return refusedPath(path, words.join(" "), reporter);
  const name = basename(path);
  return `Correct the setting: ${path} is not for ${reporter.name}; ${name} is for root alone: opsctl secret set ${name}`;
}

/** In a place of the account its value would be the account's. */
function isRootsSecret(path: string): boolean {
  return ROOT_SECRETS.includes(basename(path));
}

/** The first path of `mv`, a secret's file whose name is a slip of the pen for that of the second. */
function isSlip(path: string, [from = "", to = ""]: readonly string[]): boolean {
  if (path !== from || dirname(from) !== dirname(to)) return false;
  const [odd] = oddSecrets([basename(from)], { secrets: [basename(to)], plain: [] });
  return odd?.meant === basename(to);
}

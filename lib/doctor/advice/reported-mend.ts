import { basename } from "node:path";
import { ROOT_SECRETS } from "../../platform/secrets/file.ts";
import { accountSays } from "./account-says.ts";
import { type ChangingLine, lineAsAccount, parseChangingLine } from "./changing-line.ts";
import { whoMayExchange } from "./exchangeable.ts";
import { isKnownAdvice } from "./known-advice.ts";
import { isKnownSql } from "./known-sql.ts";
import { isPathOf, mayBeNamed } from "./path-of-reporter.ts";
import { doubtfulDirectory, refusedPath } from "./refused-path.ts";
import type { Reporter } from "./reporter.ts";
import { lookFirst } from "./safe-mend.ts";

/**
 * The line that mends a finding which another account reports, as root may see it.
 *
 * Behaviour: root runs the line, and the account may have written any text. What root would say itself stays. Advice
 *            that opsctl itself writes stays where every name in it is known and every path is the account's; SQL stays
 *            where root knows each of its names. A line that changes files stays where it is a listed one, for this
 *            account, and every path is the account's, as `isPathOf` says; where the account could lead it elsewhere
 *            meanwhile, it is to be run as the account. Instead of another such line there is a sentence that says what
 *            is wrong with it and what to do. Any other text is shown as what the account says.
 */
export function reportedMend(mend: string, reporter: Reporter): string {
  if (isKnownSql(mend) || reporter.ownAdvice.includes(mend)) return mend;
  if (isKnownAdvice(mend, (path, slot) => mayBeNamed(reporter, path, slot))) return mend;
  const line = parseChangingLine(mend);
  if (line === "other") return accountSays(reporter.name, mend);
  if (line === "unknown") return notWritten(reporter);
  return faultOf(line, reporter) ?? stableLine(line, reporter);
}

/** Why root must not run a line that changes files; null when it may. */
function faultOf(line: ChangingLine, reporter: Reporter): string | null {
  const foreign = foreignPath(line, reporter);
  if (foreign !== undefined) return refusal(foreign, line.text, reporter);
  const isForAccount = line.isOfAccount && line.names.every((name) => name === reporter.name);
  return isForAccount ? null : notWritten(reporter);
}

function notWritten({ name }: Reporter): string {
  return `Look at what the finding names: the account ${name} reports a command that opsctl does not write`;
}

/** The line as it is, or as the account can run it, where root could be led elsewhere when it runs it. */
function stableLine(line: ChangingLine, reporter: Reporter): string {
  const found = line.paths.map((path) => whoMayExchange(path, reporter));
  if (found.every((one) => one === "root")) return lookFirst(line.paths) ?? line.text;
  const doubtful = found.find((one) => typeof one === "object");
  return doubtful === undefined
    ? lineAsAccount(line, reporter.name)
    : doubtfulDirectory(doubtful.doubtful, reporter);
}

/** A path that root must not change for the account; where that one may exchange it, the line is not root's to run. */
function foreignPath({ form, paths, isPassing }: ChangingLine, reporter: Reporter): string | undefined {
  return paths.find((path, at) => {
    if (isRootsSecret(path)) return true;
    // A name that resembles a secret's is judged by that one.
    if (isPathOf(reporter, path, isPassing) || (at === 0 && form.endsWith("MEANT"))) return false;
    return whoMayExchange(path, reporter) !== "account";
  });
}

function refusal(path: string, line: string, reporter: Reporter): string {
  if (!isRootsSecret(path)) return refusedPath(path, line, reporter);
  const name = basename(path);
  return `Correct the setting: ${path} is not for ${reporter.name}; ${name} is for root alone: opsctl secret set ${name}`;
}

/** In a place of the account its value would be the account's. */
function isRootsSecret(path: string): boolean {
  return ROOT_SECRETS.includes(basename(path));
}

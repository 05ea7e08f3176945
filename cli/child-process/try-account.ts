import { spawn } from "node:child_process";
import { obstacleTo } from "../../lib/platform/account/obstacle.ts";
import {
  firstProgram,
  SERVICE_ACCOUNT,
  SERVICE_AWAY,
  type ServiceAccount,
} from "../../lib/platform/account/service-account.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { type ReadChild, readChild } from "../../lib/platform/read-child.ts";
import { withoutArrows } from "../../lib/text/without-arrows.ts";
import { cannotBecome, startAs } from "./run-as.ts";

const CAT = ["/usr/bin/cat", "/bin/cat"];
/** What the kernel says of the process that reads it. */
const STATUS = "/proc/self/status";
/** Bytes read of the trial; a process with all the groups that it can have says less. */
const MAX_OUTPUT = 1_048_576;
/** Characters of setpriv's own words in an error. */
const MAX_WORDS = 200;
const ROOT = 0;
const WHO = `id ${SERVICE_ACCOUNT}`;
/** What the system says of a change that the kernel does not let a process make. */
const REFUSED = /(?:Operation not permitted|Invalid argument)$/;
/** What is left to look at where neither capabilities nor maps say it. */
const LAST_WAY =
  "See what keeps root here from changing its user and its groups: groups that its user namespace lacks (/proc/self/gid_map), or the seccomp profile of the container";

/**
 * Proves that root can become the account, and refuses an account that has root's group.
 *
 * Behaviour: a program that only tells its own numbers runs as the account. Once setpriv starts a command itself, the
 *            two cannot be told apart: neither which of them waits, nor which of them ended with a status.
 * Units:     `limitMs` is in milliseconds.
 * Errors:    ACCOUNT_UNAVAILABLE when setpriv fails, has not ended within the limit, or gives other numbers.
 */
export async function tryAccount(
  account: ServiceAccount,
  { limitMs, isClosed }: { limitMs: number; isClosed: boolean },
): Promise<void> {
  const cat = firstProgram(CAT);
  if (cat === null) return;
  const start = startAs(account, [cat, STATUS], { env: {}, endSignal: "KILL", isClosed });
  const child = spawn(start.program, start.args, {
    ...{ env: start.env, cwd: "/", detached: true },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const trial = await readChild(child, { limitMs, maxBytes: MAX_OUTPUT });
  const status = trial.stdout.toString();
  const uid = numbersOf(status, "Uid");
  if (trial.end.status !== "ended" || uid.length === 0) throw failed(account, trial, limitMs);
  if (isOther(uid, account.uid) || isOther(numbersOf(status, "Gid"), account.gid))
    throw cannotBecome(account, "setpriv gave other numbers than its line has", `Compare them with ${WHO}`);
  if (numbersOf(status, "Groups").includes(ROOT))
    throw cannotBecome(
      account,
      "root's own group, number 0, is among its groups",
      "Take it out of that group",
    );
}

function failed(account: ServiceAccount, { end, stderr }: ReadChild, limitMs: number): OpsError {
  if (end.status === "unstarted")
    return cannotBecome(
      account,
      `setpriv cannot be started: ${end.code}`,
      "See that util-linux is installed",
    );
  if (end.status === "late")
    return cannotBecome(
      account,
      `setpriv did not end within ${Math.round(limitMs / 100) / 10} s`,
      `${SERVICE_AWAY} ${WHO}`,
    );
  const words = wordsOf(stderr);
  const status = end.status === "ended" ? (end.exitCode ?? "a signal") : "endless output";
  const ended = `setpriv ended with ${status}${words === "" ? "" : `: ${words}`}`;
  if (!REFUSED.test(words))
    return cannotBecome(account, ended, `See that ${WHO} says the same as its line in /etc/group`);
  const obstacle = obstacleTo(account);
  return obstacle === null
    ? cannotBecome(account, ended, LAST_WAY)
    : cannotBecome(account, `${obstacle.why}; ${ended}`, obstacle.way);
}

/** The numbers in a line of the kernel's; none where it does not say them. */
function numbersOf(text: string, name: "Uid" | "Gid" | "Groups"): number[] {
  const line = new RegExp(`^${name}:(.*)$`, "m").exec(text)?.[1] ?? "";
  return line.split(/\s+/).filter(Boolean).map(Number);
}

function isOther(numbers: readonly number[], wanted: number): boolean {
  return numbers.some((number) => number !== wanted);
}

/**
 * Setpriv's own words, which name at most an account or a group; once it has become the account, others can put theirs
 * there.
 */
function wordsOf(stderr: Buffer): string {
  const [line = ""] = stderr.toString().split("\n");
  const words = line.replace(/^setpriv: /, "").replace(/[^\x20-\x7e]/g, "?");
  return withoutArrows(words).slice(0, MAX_WORDS);
}

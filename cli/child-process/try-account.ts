import { spawn } from "node:child_process";
import {
  firstProgram,
  SERVICE_ACCOUNT,
  SERVICE_AWAY,
  type ServiceAccount,
} from "../../lib/platform/account/service-account.ts";
import { unlessLate } from "../../lib/platform/time-limit.ts";
import { killGroup } from "./kill-group.ts";
import { cannotBecome, startAs } from "./run-as.ts";

const CAT = ["/usr/bin/cat", "/bin/cat"];
/** What the kernel says of the process that reads it. */
const STATUS = "/proc/self/status";
/** Characters read of the trial; a process with all the groups that it can have says less. */
const MAX_OUTPUT = 1_048_576;
/** Characters of setpriv's own words in an error. */
const MAX_WORDS = 200;
const ROOT = 0;

/** How a trial ended; `status` is null for a signal. */
type Trial = { status: number | null; stdout: string; stderr: string };

/**
 * Becomes the account for a moment, and refuses one that cannot be become, or that has root's group.
 *
 * Behaviour: a program that only tells its own numbers runs as the account. Once a command itself is started so, nobody
 *            can tell setpriv from it: neither one that waits, nor a status that both end with.
 * Units:     `limitMs` is in milliseconds.
 * Errors:    ACCOUNT_UNAVAILABLE when setpriv fails, has not ended within the limit, or gives other numbers.
 */
export async function tryAccount(
  account: ServiceAccount,
  { limitMs, isClosed }: { limitMs: number; isClosed: boolean },
): Promise<void> {
  const cat = firstProgram(CAT);
  if (cat === null) return;
  const { stdout, ...end } = await trialOf(account, [cat, STATUS], { limitMs, isClosed });
  const uid = numbersOf(stdout, "Uid");
  if (uid.length === 0)
    throw cannotBecome(account, howItEnded(end), `See that ${WHO} says the same as its line in /etc/group`);
  if (isOther(uid, account.uid) || isOther(numbersOf(stdout, "Gid"), account.gid))
    throw cannotBecome(account, "setpriv gave other numbers than its line has", `Compare them with ${WHO}`);
  if (numbersOf(stdout, "Groups").includes(ROOT))
    throw cannotBecome(
      account,
      "root's own group, number 0, is among its groups",
      "Take it out of that group",
    );
}

const WHO = `id ${SERVICE_ACCOUNT}`;

function trialOf(
  account: ServiceAccount,
  command: readonly string[],
  { limitMs, isClosed }: { limitMs: number; isClosed: boolean },
): Promise<Trial> {
  const start = startAs(account, command, { env: {}, endSignal: "KILL", isClosed });
  const child = spawn(start.program, start.args, {
    ...{ env: start.env, cwd: "/", detached: true },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  const stop = () => {
    killGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      said[stream] += text;
      // Another process of the account can take the output over and write without end.
      if (said[stream].length > MAX_OUTPUT) stop();
    });
  const ended = new Promise<Trial>((resolve, reject) => {
    child.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(
        cannotBecome(
          account,
          `${start.program} cannot be started: ${code}`,
          "See that util-linux is installed",
        ),
      ),
    );
    child.once("close", (status) => resolve({ status, ...said }));
  });
  return unlessLate(
    { limitMs },
    () => ended,
    () => {
      stop();
      throw cannotBecome(
        account,
        `setpriv did not end within ${Math.round(limitMs / 100) / 10} s`,
        `${SERVICE_AWAY} ${WHO}`,
      );
    },
  );
}

/** The numbers in a line of the kernel's; none where it does not say them. */
function numbersOf(text: string, name: "Uid" | "Gid" | "Groups"): number[] {
  const line = new RegExp(`^${name}:(.*)$`, "m").exec(text)?.[1] ?? "";
  return line.split(/\s+/).filter(Boolean).map(Number);
}

function isOther(numbers: readonly number[], wanted: number): boolean {
  return numbers.some((number) => number !== wanted);
}

/** The status and setpriv's own words, which name at most an account or a group. */
function howItEnded({ status, stderr }: Omit<Trial, "stdout">): string {
  const words = (stderr.split("\n")[0] ?? "").replace(/^setpriv: /, "").replace(/[^\x20-\x7e]/g, "?");
  return `setpriv ended with ${status ?? "a signal"}${words === "" ? "" : `: ${words.slice(0, MAX_WORDS)}`}`;
}

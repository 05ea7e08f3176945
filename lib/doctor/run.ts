import { envDirOption } from "../platform/config/sudo-line.ts";
import { OpsError } from "../platform/errors.ts";
import type { Check } from "./context/check.ts";
import { CheckContext } from "./context/check-context.ts";
import { COMMAND_FACTS } from "./context/command-facts.ts";
import type { DoctorDependencies } from "./context/dependencies.ts";
import { isCommandSetUp, leftOut } from "./context/set-up.ts";
import { type CheckResult, type CommandName, command, type Finding, fail, failure } from "./finding.ts";

/**
 * How doctor looks.
 *
 * Shape: `isNamed`: a person named the command, so that it is checked also where its part is not set up; `leaveRoot`
 *        makes a process of root's the service account, or throws why it cannot; `onFound` gets what each check found,
 *        as soon as that check ends.
 */
export type Examination = {
  isNamed?: boolean;
  leaveRoot?: (() => void) | null;
  onFound?: (check: Check, findings: readonly Finding[]) => void;
};

/** The time of a check that runs as root, before the others. */
const ROOT_LIMIT_MS = 1_000;
/** Of doctor's five seconds; the rest is for its start and for its result. */
const TOTAL_MS = 4_500;
/** What a check gets at least, however long everything before it took. */
const LEAST_MS = 500;
/** Of the time of a check, which then names the secret command that hangs. */
const SECRET_COMMAND_PART = 0.75;

/**
 * Runs all checks at the same time, each with its own time limit; returns the findings in the order of the checks.
 *
 * Behaviour: started by root it has two phases. Root runs the checks that need it, opening no file of another account;
 *            then the process is the account for good, and runs all others. A check that runs out of time or throws
 *            gives a `fail`. Where root cannot become the account, that is the one finding of each of its commands.
 * Errors:    none thrown.
 */
export async function runDoctor(
  dependencies: DoctorDependencies,
  checks: readonly Check[],
  { isNamed = true, leaveRoot = null, onFound = () => {} }: Examination = {},
): Promise<Finding[]> {
  const begunMs = performance.now();
  const context = new CheckContext(dependencies);
  try {
    const seen = leaveRoot === null ? new Map() : await lookAsRoot(context, checks, isNamed);
    const problem = problemOf(leaveRoot);
    context.dependencies = inTime(dependencies, performance.now() - begunMs);
    const run = async (check: Check) => {
      const isLeft = problem !== null && !belongsToRoot(check.command);
      const isFirst = check === checks.find((other) => other.command === check.command);
      const look = isLeft
        ? async () => (isFirst ? [failure(problem)] : [])
        : lookOf(check, seen.get(check), { isNamed, isFirst });
      const name = isLeft ? ACCOUNT_CHECK : check.name;
      const results = await verdictsOf({ ...check, run: look }, context, context.dependencies.limitMs);
      const findings = results.map((result) => ({ command: check.command, check: name, ...result }));
      onFound(check, findings);
      return findings;
    };
    return oncePerCause((await Promise.all(checks.map(run))).flat());
  } finally {
    await context.close();
  }
}

/** Reports what several checks of a command lack for the same reason once: with the first, which names the others. */
function oncePerCause(findings: readonly Finding[]): Finding[] {
  const causeOf = ({ command: of, code, reason }: Finding) =>
    code === "PREREQUISITE_FAILED" ? `${of} ${reason}` : null;
  return findings.flatMap((finding, at) => {
    const cause = causeOf(finding);
    const alike = cause === null ? [finding] : findings.filter((other) => causeOf(other) === cause);
    if (alike.length === 1) return [finding];
    const others = alike.slice(1).map(({ check }) => check);
    const isFirst = findings.findIndex((other) => causeOf(other) === cause) === at;
    return isFirst ? [{ ...finding, reason: `${finding.reason}; neither were ${others.join(", ")}` }] : [];
  });
}

/** The name of the check that says why nothing is known of the account's commands. */
const ACCOUNT_CHECK = "service account";

type Seen = ReadonlyMap<Check, CheckResult[]>;

/** What the checks say that run as root; what the account could not read later is read along the way. */
async function lookAsRoot(context: CheckContext, checks: readonly Check[], isNamed: boolean): Promise<Seen> {
  const own = new Set(checks.map((check) => check.command).filter(belongsToRoot));
  // Root's secret command is ended while this process is still root, which the account could not do.
  const secretCommandLimitMs = ROOT_LIMIT_MS * SECRET_COMMAND_PART;
  context.dependencies = { ...context.dependencies, secretCommandLimitMs };
  const signal = AbortSignal.timeout(ROOT_LIMIT_MS);
  const settled = [...own].map((of) => (isNamed ? context.secrets(of) : isCommandSetUp(of, context, signal)));
  const found = checks
    .filter(({ runsAsRoot }) => runsAsRoot)
    .map(async (check) => [check, await verdictsOf(check, context, ROOT_LIMIT_MS)] as const);
  await Promise.race([Promise.allSettled(settled), context.dependencies.wait(ROOT_LIMIT_MS, signal)]);
  return new Map(await Promise.all(found));
}

function belongsToRoot(of: CommandName): boolean {
  return COMMAND_FACTS[of].account === "root";
}

function lookOf(
  check: Check,
  seen: CheckResult[] | undefined,
  { isNamed, isFirst }: { isNamed: boolean; isFirst: boolean },
): Check["run"] {
  const look: Check["run"] = seen === undefined ? check.run : async () => seen;
  if (isNamed) return look;
  return async (context, signal) =>
    (await isCommandSetUp(check.command, context, signal))
      ? await look(context, signal)
      : leftOut(check.command, isFirst);
}

/** Makes the process the account; returns why it could not. */
function problemOf(leaveRoot: (() => void) | null): OpsError | null {
  try {
    leaveRoot?.();
    return null;
  } catch (error) {
    if (error instanceof OpsError) return error;
    throw error;
  }
}

/** The limits that are left when `spentMs` of doctor's time are over; whole tenths of a second, as findings name them. */
function inTime(dependencies: DoctorDependencies, spentMs: number): DoctorDependencies {
  const leftMs = Math.max(LEAST_MS, Math.floor((TOTAL_MS - spentMs) / 100) * 100);
  if (leftMs >= dependencies.limitMs || spentMs < LEAST_MS) return dependencies;
  return { ...dependencies, limitMs: leftMs, secretCommandLimitMs: leftMs * SECRET_COMMAND_PART };
}

async function verdictsOf(check: Check, context: CheckContext, limitMs: number): Promise<CheckResult[]> {
  const { envDir, wait } = context.dependencies;
  const outOfTime = new AbortController();
  const done = new AbortController();
  const work = attempt(check, context, outOfTime.signal);
  const limit = wait(limitMs, done.signal).then(() => null);
  const results = await Promise.race([work, limit]);
  done.abort();
  outOfTime.abort();
  return results ?? [noAnswer(check, { limitMs, envDir })];
}

async function attempt(check: Check, context: CheckContext, signal: AbortSignal): Promise<CheckResult[]> {
  try {
    return await check.run(context, signal);
  } catch (error) {
    if (error instanceof OpsError) return [failure(error)];
    // The message of the engine or a library may quote data.
    const { name, code } = error as { name?: string; code?: unknown };
    return [
      fail(
        "CHECK_FAILED",
        `the check broke off: ${typeof code === "string" ? code : (name ?? "unknown error")}`,
      ),
    ];
  }
}

/** The result of a check that did not end in its time; it names the service, as it may stand alone. */
function noAnswer(
  { command: of, name, service }: Check,
  { limitMs, envDir }: Pick<DoctorDependencies, "limitMs" | "envDir">,
): CheckResult {
  // What asks no service reads files of this host, or starts a program.
  const look =
    service === undefined
      ? `See whether this host is too busy, or a disk hangs (${name}), then:`
      : `See that ${service} runs and answers, then:`;
  const again = command(`opsctl doctor ${of}${envDirOption(envDir)}`, look);
  return fail("CHECK_TIMED_OUT", `no answer within ${limitMs / 1000} s`, again);
}

import { envDirOption } from "../platform/config/sudo-line.ts";
import { OpsError } from "../platform/errors.ts";
import type { Account } from "../platform/privileges.ts";
import type { Check } from "./context/check.ts";
import { CheckContext } from "./context/check-context.ts";
import { COMMAND_FACTS } from "./context/command-facts.ts";
import type { DoctorDependencies } from "./context/dependencies.ts";
import { isCommandSetUp } from "./context/set-up.ts";
import {
  type CheckResult,
  type CommandName,
  command,
  type Finding,
  fail,
  failure,
  notSetUp,
} from "./finding.ts";

/**
 * How doctor looks.
 *
 * Shape: `isNamed`: a person named the command, so that it is checked also where its part is not set up; `becomeAccount`
 *        makes a process of root's the service account, or throws why it cannot.
 */
export type Examination = { isNamed?: boolean; becomeAccount?: ((account: Account) => void) | null };

/** The time of a check that runs as root, before the others. */
const ROOT_LIMIT_MS = 1_000;
/** After this time a part counts as set up: its checks find what hangs. */
const SET_UP_LIMIT_MS = 1_000;
/** Of doctor's five seconds; the rest is for its start and for its result. */
const TOTAL_MS = 4_700;
/** What a check gets at least, however long everything before it took. */
const LEAST_MS = 500;

type Results = ReadonlyMap<Check, CheckResult[]>;

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
  { isNamed = true, becomeAccount = null }: Examination = {},
): Promise<Finding[]> {
  const begunMs = performance.now();
  const context = new CheckContext(dependencies);
  try {
    const byCommand = [...Map.groupBy(checks, (check) => check.command)];
    const asRoot = becomeAccount === null ? new Map() : await resultsAsRoot(context, checks);
    const problem = becomeAccount === null ? null : await leaveRoot(context, becomeAccount);
    const isClosed = (of: CommandName) => problem !== null && COMMAND_FACTS[of].account !== "root";
    const left = new Set<CommandName>();
    const leave = async (of: CommandName) => {
      const work = (signal: AbortSignal) => isCommandSetUp(of, context, signal);
      if (!(await inTime(context, SET_UP_LIMIT_MS, work, () => true))) left.add(of);
    };
    if (!isNamed) await Promise.all(byCommand.flatMap(([of]) => (isClosed(of) ? [] : [leave(of)])));
    const leftMs = Math.floor((TOTAL_MS - (performance.now() - begunMs)) / 100) * 100;
    context.limitMs = Math.min(dependencies.limitMs, Math.max(LEAST_MS, leftMs));
    const findings = byCommand.map(async ([of, own]): Promise<Finding[]> => {
      const [first] = own as [Check];
      if (isClosed(of)) return [{ command: of, check: "service account", ...failure(problem as OpsError) }];
      if (left.has(of)) return [{ command: of, check: first.name, ...unused(of) }];
      return await findingsOf(own, asRoot, context);
    });
    return (await Promise.all(findings)).flat();
  } finally {
    await context.close();
  }
}

/** What the checks find that run as root; what the account could not read later is read on the way. */
async function resultsAsRoot(context: CheckContext, checks: readonly Check[]): Promise<Results> {
  // Root's secret command is ended while this process is still root, which the account could not do.
  context.limitMs = ROOT_LIMIT_MS;
  const roots = new Set(
    checks.map((check) => check.command).filter((of) => COMMAND_FACTS[of].account === "root"),
  );
  const setUp = [...roots].map((of) => isCommandSetUp(of, context, AbortSignal.timeout(ROOT_LIMIT_MS)));
  const found = checks
    .filter(({ runsAsRoot }) => runsAsRoot)
    .map(async (check) => [check, await resultsOf(check, context)] as const);
  await Promise.allSettled(setUp);
  return new Map(await Promise.all(found));
}

/** Makes the process the account, where the host has one; returns why it could not. */
async function leaveRoot(
  context: CheckContext,
  become: (account: Account) => void,
): Promise<OpsError | null> {
  try {
    const account = await context.account();
    if (account !== null) become(account);
    return null;
  } catch (error) {
    if (error instanceof OpsError) return error;
    throw error;
  }
}

/** The result on a command whose part this host does not use, as `opsctl status` has it. */
function unused(of: CommandName): CheckResult {
  return notSetUp("this host does not use it", command(`opsctl doctor ${of}`, "What it needs:"));
}

/** The findings of a command: what several checks lack for the same reason is one, which names all of them. */
async function findingsOf(own: readonly Check[], asRoot: Results, context: CheckContext): Promise<Finding[]> {
  const run = async (check: Check) => {
    const results = asRoot.get(check) ?? (await resultsOf(check, context));
    return results.map((result): Finding => ({ command: check.command, check: check.name, ...result }));
  };
  const found = (await Promise.all(own.map(run))).flat();
  const alike = Map.groupBy(found, (one) => (one.code === "PREREQUISITE_FAILED" ? one.reason : one));
  return [...alike.values()].map(([first, ...others]) => {
    const { reason } = first as Finding;
    const names = others.map(({ check }) => check).join(", ");
    return { ...(first as Finding), reason: names === "" ? reason : `${reason}; neither were ${names}` };
  });
}

async function resultsOf(check: Check, context: CheckContext): Promise<CheckResult[]> {
  const { limitMs } = context;
  const late = () => [noAnswer(check, limitMs, context.dependencies.envDir)];
  try {
    return await inTime(context, limitMs, (signal) => check.run(context, signal), late);
  } catch (error) {
    if (error instanceof OpsError) return [failure(error)];
    // The message of the engine or a library may quote data.
    const { name = "unknown error", code } = error as { name?: string; code?: unknown };
    return [fail("CHECK_FAILED", `the check broke off: ${typeof code === "string" ? code : name}`)];
  }
}

/** What `work` returns, or `late` when its time is over; `signal` is aborted then. */
async function inTime<T>(
  { dependencies }: CheckContext,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => T,
): Promise<T> {
  const [outOfTime, done] = [new AbortController(), new AbortController()];
  try {
    return await Promise.race([work(outOfTime.signal), dependencies.wait(limitMs, done.signal).then(late)]);
  } finally {
    done.abort();
    outOfTime.abort();
  }
}

/** The result of a check that did not end in its time; it names the service, as it may stand alone. */
function noAnswer({ command: of, name, service }: Check, limitMs: number, envDir: string): CheckResult {
  // What asks no service reads files of this host, or starts a program.
  const look =
    service === undefined
      ? `See whether this host is too busy, or a disk hangs (${name}), then:`
      : `See that ${service} runs and answers, then:`;
  const again = command(`opsctl doctor ${of}${envDirOption(envDir)}`, look);
  return fail("CHECK_TIMED_OUT", `no answer within ${limitMs / 1000} s`, again);
}

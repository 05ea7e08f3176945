import { type CheckResult, command, fail, failure, notSetUp } from "../health/result.ts";
import { envDirOption } from "../platform/config/sudo-line.ts";
import { OpsError, onlyOpsError } from "../platform/errors.ts";
import type { Account } from "../platform/privileges.ts";
import { withTimeout } from "../platform/timeout.ts";
import { isUsed } from "./checks/status.ts";
import {
  type Check,
  CheckContext,
  COMMAND_FACTS,
  type CommandName,
  type DoctorDependencies,
  type Finding,
} from "./context.ts";

/** The time of each check that runs as root, before the others, and of the look whether a part is used. */
const ROOT_LIMIT_MS = 1_000;
const USED_LIMIT_MS = 1_000;
/** What all this may take before the checks have less than their limit, and what they have at least. */
const BEFORE_MS = 500;
const LEAST_MS = 500;

/**
 * Runs all checks at the same time, each with its own time limit; returns the findings in the order of the checks.
 *
 * Behaviour: started by root it has two phases. Root runs the checks that need it, opening no file of another account;
 *            then the process is the account for good, and runs all others. A check that runs out of time or throws
 *            gives a `fail`. Where root cannot become the account, that is the one finding of each of its commands.
 *            A command that a person named (`isNamed`) is checked also where its part is not set up. `becomeAccount`
 *            makes a process of root's the account, or throws why it cannot.
 * Errors:    none thrown.
 */
export async function runDoctor(
  dependencies: DoctorDependencies,
  checks: readonly Check[],
  {
    isNamed = true,
    becomeAccount = null,
  }: { isNamed?: boolean; becomeAccount?: ((account: Account) => void) | null } = {},
): Promise<Finding[]> {
  const begunMs = performance.now();
  const context = new CheckContext(dependencies);
  const byCommand = Map.groupBy(checks, (check) => check.command);
  const commands = [...byCommand.keys()];
  const asRoot = new Map<Check, CheckResult[]>();
  let problem: OpsError | null = null;
  try {
    if (becomeAccount !== null) {
      // Root's secret command is ended while this process is still root, which the account could not do.
      context.limitMs = ROOT_LIMIT_MS;
      const roots = checks.filter(({ runsAsRoot }) => runsAsRoot);
      const run = async (check: Check) => asRoot.set(check, await resultsOf(check, context));
      await Promise.all([...commands.filter(isRoots).map((of) => context.isSetUp(of)), ...roots.map(run)]);
      const become = (account: Account | null) => (account === null ? null : becomeAccount(account));
      problem = (await context.account().then(become).catch(onlyOpsError)) ?? null;
    }
    const seen = problem === null ? commands : commands.filter(isRoots);
    const used = isNamed ? seen : await usedOf(seen, context);
    const spentMs = Math.ceil((performance.now() - begunMs) / 100) * 100;
    context.limitMs = Math.max(LEAST_MS, dependencies.limitMs - Math.max(0, spentMs - BEFORE_MS));
    const findings = [...byCommand].map(async ([of, own]): Promise<Finding[]> => {
      if (used.includes(of)) return await findingsOf(own, asRoot, context);
      if (problem !== null && !isRoots(of))
        return [{ command: of, check: "service account", ...failure(problem) }];
      const look = command(`opsctl doctor ${of}`, "What it needs:");
      return [{ command: of, check: own[0]!.name, ...notSetUp("this host does not use it", look) }];
    });
    return (await Promise.all(findings)).flat();
  } finally {
    await context.close();
  }
}

function isRoots(of: CommandName): boolean {
  return COMMAND_FACTS[of].account === "root";
}

/** Those of the commands whose part this host uses, or whose part cannot be seen in time: the checks say why. */
async function usedOf(commands: readonly CommandName[], context: CheckContext): Promise<CommandName[]> {
  const isOne = (of: CommandName) =>
    withTimeout(
      { limitMs: USED_LIMIT_MS },
      (signal) => isUsed(of, context, signal).catch(() => true),
      () => true,
    );
  const found = await Promise.all(commands.map(isOne));
  return commands.filter((_, at) => found[at]);
}

/** The findings of a command: what several checks lack for the same reason is one, which names all of them. */
async function findingsOf(
  own: readonly Check[],
  asRoot: ReadonlyMap<Check, CheckResult[]>,
  context: CheckContext,
): Promise<Finding[]> {
  const run = async (check: Check) => {
    const results = asRoot.get(check) ?? (await resultsOf(check, context));
    return results.map((result): Finding => ({ command: check.command, check: check.name, ...result }));
  };
  const found = (await Promise.all(own.map(run))).flat();
  const alike = Map.groupBy(found, (one) => (one.code === "PREREQUISITE_FAILED" ? one.reason : one));
  return [...alike.values()].map(([first, ...others]) => {
    const names = others.map(({ check }) => check);
    const { reason } = first!;
    if (names.length === 0) return first!;
    const verb = names.length === 1 ? "was" : "were";
    return { ...first!, reason: `${reason}; neither ${verb} ${names.join(", ")}` };
  });
}

async function resultsOf(check: Check, context: CheckContext): Promise<CheckResult[]> {
  const { limitMs, dependencies } = context;
  try {
    return await withTimeout(
      { limitMs },
      (signal) => check.run(context, signal),
      () => [noAnswer(check, limitMs, dependencies.envDir)],
    );
  } catch (error) {
    if (error instanceof OpsError) return [failure(error)];
    // The message of the engine or a library may quote data.
    const { name = "unknown error", code } = error as { name?: string; code?: unknown };
    return [fail("CHECK_FAILED", `the check broke off: ${typeof code === "string" ? code : name}`)];
  }
}

/** The result of a check that did not end in its time; without a service it reads files, or starts a program. */
function noAnswer({ command: of, name, service }: Check, limitMs: number, envDir: string): CheckResult {
  const look = service === undefined ? `this host is not too busy (${name})` : `${service} runs and answers`;
  const again = command(`opsctl doctor ${of}${envDirOption(envDir)}`, `See that ${look}, then:`);
  return fail("CHECK_TIMED_OUT", `no answer within ${limitMs / 1000} s`, again);
}

import { envDirOption } from "../platform/config/env-files/with-directories.ts";
import { OpsError } from "../platform/errors.ts";
import { safeMend } from "./advice/safe-mend.ts";
import { peerOf } from "./checks/peers/peer-names.ts";
import type { Check } from "./context/check.ts";
import { CheckContext } from "./context/check-context.ts";
import type { DoctorDependencies } from "./context/dependencies.ts";
import { type Finding, fail, type Verdict } from "./finding.ts";
import { reasonOf } from "./finding-reason.ts";

/**
 * Runs all checks at the same time, each with its own time limit.
 *
 * Behaviour: returns the findings in the order of the checks; `onFound` gets the findings of each check, which may be
 *            none, as soon as that check ends. A check that runs out of time or throws gives a `fail`.
 * Errors:    none thrown.
 */
export async function runDoctor(
  dependencies: DoctorDependencies,
  checks: readonly Check[],
  onFound: (check: Check, findings: readonly Finding[]) => void = () => {},
): Promise<Finding[]> {
  const context = new CheckContext(dependencies);
  const run = async (check: Check) => {
    const findings = await runCheck(check, context);
    onFound(check, findings);
    return findings;
  };
  try {
    return (await Promise.all(checks.map(run))).flat();
  } finally {
    await context.close();
  }
}

async function runCheck(check: Check, context: CheckContext): Promise<Finding[]> {
  const { command, name } = check;
  const outOfTime = new AbortController();
  const done = new AbortController();
  const work = attempt(check, context, outOfTime.signal);
  const limit = context.dependencies.wait(context.dependencies.limitMs, done.signal).then(() => null);
  const verdicts = await Promise.race([work, limit]);
  done.abort();
  outOfTime.abort();
  return (verdicts ?? [noAnswer(check, context.dependencies)]).map((verdict) => ({
    command,
    check: name,
    ...verdict,
    mend: verdict.mend === null ? null : safeMend(verdict.mend),
  }));
}

async function attempt(check: Check, context: CheckContext, signal: AbortSignal): Promise<Verdict[]> {
  try {
    return await check.run(context, signal);
  } catch (error) {
    if (error instanceof OpsError) return [fail(error.code, reasonOf(error), error.hint ?? null)];
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

/** The verdict of a check that did not end in its time. */
export function noAnswer(
  check: Pick<Check, "command" | "name">,
  { limitMs, envDir }: Pick<DoctorDependencies, "limitMs" | "envDir">,
): Verdict {
  return fail("CHECK_TIMED_OUT", `no answer within ${limitMs / 1000} s`, whenSilent(check, envDir));
}

/** What is to be done where a check does not end; it names the peer, as it may stand alone. */
export function whenSilent({ command, name }: Pick<Check, "command" | "name">, envDir: string): string {
  const peer = peerOf(name);
  // What asks no peer reads files of this host, or starts a program.
  const look =
    peer === null
      ? `See whether this host is too busy, or a disk hangs (${name})`
      : `See that ${peer} runs and answers`;
  return `${look}, then: opsctl doctor ${command}${envDirOption(envDir)}`;
}

/** Faults of a host, each with the finding that doctor must report. */
import { expect, test } from "bun:test";
import { parseChangingLine } from "../../../lib/doctor/advice/changing-line.ts";
import { isKnownAdvice } from "../../../lib/doctor/advice/known-advice.ts";
import { ownAdvice } from "../../../lib/doctor/advice/reporter.ts";
import { checksFor } from "../../../lib/doctor/checks/all.ts";
import { type CommandName, DOCTOR_COMMANDS, type Finding } from "../../../lib/doctor/finding.ts";
import { type Host, openHost } from "./host.ts";

/** A fault: how it is made on a healthy host, and the one finding that it leads to. */
export type Fault = {
  command: CommandName;
  check: string;
  status: "pass" | "warn" | "fail";
  /** The reason begins so, or matches. */
  reason: string | RegExp;
  mend?: string | RegExp;
  spoil: (host: Host) => unknown;
};

/** Root is shown a statement for a login as what the account says, see `known-sql.ts`. */
const SQL = /^(?:alter|create|grant|revoke) .*;$/;

/** A test of each fault, on a host of its own. */
export function testFaults(faults: Record<string, Fault>): void {
  test.each(Object.entries(faults))("%s", async (_what, { command, check, status, reason, mend, spoil }) => {
    await using host = await openHost();
    // A check that is slow on a busy machine must not count as a fault.
    host.dependencies.limitMs = 20_000;
    host.dependencies.callLimitMs = 20_000;
    await spoil(host);
    const findings = await host.examine(command);
    const matching = findings.filter((one) => one.check === check && matches(one.reason, reason));
    if (matching.length !== 1) expect(ofCheck(findings, check)).toEqual([{ status, reason } as never]);
    expect(matching[0]).toMatchObject({ command, status });
    if (mend !== undefined) expect(matches(matching[0]!.mend ?? "", mend)).toBe(true);
    expect(unknownAdvice(findings, host)).toEqual([]);
    expect(JSON.stringify(findings)).not.toMatch(/canary|CANARY|secret-of-the-url|an-alias-of/);
  });
}

/** Advice of the account that root would not be shown as opsctl's own; other checks root runs itself. */
export function unknownAdvice(findings: readonly Finding[], { dependencies }: Host): string[] {
  const own = ownAdvice(dependencies);
  const ofRoot = checksFor(DOCTOR_COMMANDS, { isNamed: true }).filter(
    ({ command, isOfHost }) => command === "collect-metrics" || isOfHost,
  );
  return findings
    .filter(({ command, check }) => !ofRoot.some((one) => one.command === command && one.name === check))
    .flatMap(({ mend }) => mend ?? [])
    .filter(
      (mend) =>
        typeof parseChangingLine(mend) === "string" &&
        !SQL.test(mend) &&
        !own.includes(mend) &&
        !isKnownAdvice(mend, () => true),
    );
}

/** Status and reason of what one check found. */
export function ofCheck(findings: readonly Finding[], check: string) {
  return findings.filter((one) => one.check === check).map(({ status, reason }) => ({ status, reason }));
}

function matches(text: string, expected: string | RegExp): boolean {
  return typeof expected === "string" ? text.startsWith(expected) : expected.test(text);
}

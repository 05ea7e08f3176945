import { type ChildProcess, spawn } from "node:child_process";
import { parseReportedFindings, type ReportedCheck } from "../../lib/doctor/advice/reported-findings.ts";
import { reportedMend } from "../../lib/doctor/advice/reported-mend.ts";
import { type Reporter, reporterOf } from "../../lib/doctor/advice/reporter.ts";
import { checksFor } from "../../lib/doctor/checks/all.ts";
import type { Check } from "../../lib/doctor/context/check.ts";
import { COMMAND_FACTS } from "../../lib/doctor/context/command-facts.ts";
import type { HandedLogin } from "../../lib/doctor/context/dependencies.ts";
import { readAsRoot, writtenHanded } from "../../lib/doctor/context/handed-login.ts";
import { type CommandName, type Finding, fail } from "../../lib/doctor/finding.ts";
import { noAnswer, runDoctor } from "../../lib/doctor/run.ts";
import { isRoot } from "../../lib/platform/account/account.ts";
import { findServiceAccount, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { LIMIT_MS, openDoctorDependencies } from "../wiring/doctor.ts";
import { HANDED_INPUT } from "./handed-input.ts";
import { internalCommand, NAMED } from "./internal-command.ts";
import { killGroup } from "./kill-group.ts";
import { startAs } from "./run-as.ts";
import { selfCommand } from "./self-command.ts";

/** A directory service that hangs is named before a person thinks that doctor does. */
const ACCOUNT_LIMIT_MS = 2_000;
/** Counted from the child's first line, with which its checks begin: what it has not reported by then is not waited for. */
const CHILD_LIMIT_MS = 4_500;
/** For that first line: on a host that is very busy, a process takes seconds to begin. */
const BEGIN_LIMIT_MS = 10_000;
/** Characters read of the child; honest findings need far fewer. */
const MAX_OUTPUT = 1_048_576;

/**
 * What to check: commands, and the folder of their environment files. `isNamed`: a person named the command, so that it is
 * checked also where its part is not set up.
 */
export type Examination = {
  commands: readonly CommandName[];
  isNamed: boolean;
  env: Environment;
  envDir: string;
};

type Prepared = Examination & { handedLogin: HandedLogin | null };

/**
 * The findings about these commands, in the order of their checks.
 *
 * Behaviour: started by root, the checks of the service account's commands run in a child process as that account,
 *            because they open and execute files that the account owns. All other checks run in this process. The login
 *            for migrations, which root keeps for itself, is handed to a child of its own, on its standard input: that one
 *            is closed to other processes of the account, and runs nothing that the account chose.
 * Errors:    ACCOUNT_UNAVAILABLE when the host does not say whether there is such an account.
 */
export async function doctorFindings(examination: Examination): Promise<Finding[]> {
  const account = isRoot() ? await findServiceAccount(ACCOUNT_LIMIT_MS) : null;
  const { commands, env } = examination;
  const handedLogin = isRoot() && commands.includes("migrate") ? await readAsRoot(env) : null;
  const prepared = { ...examination, handedLogin };
  const runsHere = (command: CommandName) => account === null || COMMAND_FACTS[command].account === "root";
  const others = commands.filter((command) => !runsHere(command));
  const needsLogin = (command: CommandName) => command === "migrate" && handedLogin !== null;
  const findings = await Promise.all([
    runHere({ ...prepared, commands: commands.filter(runsHere) }),
    runAs(account, { ...prepared, handedLogin: null, commands: others.filter((one) => !needsLogin(one)) }),
    runAs(account, { ...prepared, commands: others.filter(needsLogin) }),
  ]);
  const all = findings.flat();
  return commands.flatMap((command) => all.filter((finding) => finding.command === command));
}

async function runHere({ commands, isNamed, ...prepared }: Prepared): Promise<Finding[]> {
  return commands.length === 0
    ? []
    : await runDoctor(openDoctorDependencies(prepared), checksFor(commands, { isNamed }));
}

/** The findings of a doctor that runs as the account; a check that it does not report counts as not ended in time. */
async function runAs(
  account: ServiceAccount | null,
  { commands, isNamed, env, envDir, handedLogin }: Prepared,
): Promise<Finding[]> {
  if (account === null || commands.length === 0) return [];
  const checks = checksFor(commands, { isNamed });
  const words = [envDir, commands.join(","), ...(isNamed ? [NAMED] : [])];
  const command = [...internalCommand("doctor").command, ...words];
  const isClosed = handedLogin !== null;
  const start = startAs(account, command, { env, endSignal: "KILL", isClosed });
  const child = spawn(start.program, start.args, {
    ...{ env: { ...start.env, [HANDED_INPUT]: isClosed ? "1" : undefined }, cwd: "/", detached: true },
    stdio: [isClosed ? "pipe" : "ignore", "pipe", "ignore"],
  });
  // A child that ends before it has read is one that reports nothing.
  if (isClosed) child.stdin?.on("error", () => {}).end(writtenHanded(handedLogin));
  const reported = await reportedBy(child, checks);
  if (reported.length === 0) return commands.map((command) => nothingReported(command, account));
  const reporter = reporterOf(account, { env, envDir, handedLogin });
  return checks.flatMap(
    (check) =>
      reported
        .find((one) => isOf(one, check))
        ?.findings.map((finding) => withSafeMend(finding, reporter)) ?? [
        { command: check.command, check: check.name, ...noAnswer(check, LIMIT_MS) },
      ],
  );
}

function withSafeMend(finding: Finding, reporter: Reporter): Finding {
  return { ...finding, mend: finding.mend === null ? null : reportedMend(finding.mend, reporter) };
}

/**
 * What the child reports until every check is in, the child ends, it writes too much or its time is over. Then the child
 * and the processes that it started are killed.
 *
 * Behaviour: another process of that account can take over the child's output and write without end, so nothing is read
 *            after that.
 */
async function reportedBy(child: ChildProcess, checks: readonly Check[]): Promise<ReportedCheck[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    clearTimeout(limit);
    child.stdout?.destroy();
    resolve();
  };
  let limit = setTimeout(done, BEGIN_LIMIT_MS);
  child.stdout?.once("data", () => {
    clearTimeout(limit);
    limit = setTimeout(done, CHILD_LIMIT_MS);
  });
  const reported: ReportedCheck[] = [];
  let [rest, length] = ["", 0];
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    const lines = `${rest}${part}`.split("\n");
    rest = lines.pop() ?? "";
    length += part.length;
    reported.push(...lines.flatMap((line) => parseReportedFindings(line) ?? []));
    if (length > MAX_OUTPUT || checks.every((check) => reported.some((one) => isOf(one, check)))) done();
  });
  child.once("close", done).once("error", done);
  await promise;
  killGroup(child.pid);
  return reported;
}

function isOf({ command, check }: ReportedCheck, { command: of, name }: Check): boolean {
  return command === of && check === name;
}

function nothingReported(command: CommandName, { name }: ServiceAccount): Finding {
  const [program] = selfCommand();
  const verdict = fail(
    `the checks as the account ${name} said nothing: they could not be started, or did not end in time`,
    // `--pty` gives it a terminal of its own: into root's terminal the account could type.
    `runuser --pty -u ${name} -- ${program} doctor ${command}`,
  );
  return { command, check: "service account", ...verdict };
}

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
import { reasonOf } from "../../lib/doctor/finding-reason.ts";
import { noAnswer, runDoctor } from "../../lib/doctor/run.ts";
import { isRoot } from "../../lib/platform/account/account.ts";
import { localNames } from "../../lib/platform/account/local-names.ts";
import { findServiceAccount, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { starterMark } from "../../lib/platform/account/started-by.ts";
import { envDirOption } from "../../lib/platform/config/env-files/with-directories.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { killGroup } from "../../lib/platform/kill-group.ts";
import { type ReadingLimits, readChild } from "../../lib/platform/read-child.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { shellWord } from "../../lib/platform/shell-word.ts";
import { asOpsError } from "../framework/failure.ts";
import { ACCOUNT_LIMIT_MS, BUSY_LIMIT_MS, openDoctorDependencies } from "../wiring/host/doctor.ts";
import { checkLimitMs, directoryChildMs, directoryTrialMs } from "./doctor-time.ts";
import { HANDED_INPUT } from "./handed-input.ts";
import { type DoctorOrder, internalCommand } from "./internal-command.ts";
import { startAs } from "./run-as.ts";
import { selfCommand } from "./self-command.ts";
import { tryAccount } from "./try-account.ts";

/**
 * How long an account that the host's files know is read, from the child's first line on. The child itself ends its
 * checks at their limit, so this is for one that is stopped: on a host that is very busy an honest one takes seconds to
 * say that its checks have ended.
 */
const SAID_LIMIT_MS = BUSY_LIMIT_MS + 1_000;
/** For that first line: on a host that is very busy, a process takes seconds to begin. */
const BEGIN_LIMIT_MS = 20_000;
/** Bytes read of the child; honest findings need far fewer. */
const MAX_OUTPUT = 1_048_576;

/** The check under which it is told why the account says nothing. */
const ACCOUNT_CHECK = "service account";

/**
 * What to check: commands, and the folder of their environment files. `isNamed`: a person named the command, so that it
 * is checked also where its part is not set up.
 */
export type Examination = {
  commands: readonly CommandName[];
  isNamed: boolean;
  env: Environment;
  envDir: string;
};

/** What was found; `saidBy` names the account whose process told root of a problem, or is null. */
export type Examined = { findings: Finding[]; saidBy: string | null };

type Prepared = Examination & { handedLogin: HandedLogin | null };
/** What root knows of the service account: `problem` where the host does not say who it is. */
type Known = { account: ServiceAccount | null; problem: OpsError | null; spentMs: number };
/** The account that root can become, and how long it took to find that out. */
type Become = { account: ServiceAccount; isLocal: boolean; spentMs: number; trialMs: number };

/**
 * The findings about these commands, in the order of their checks.
 *
 * Behaviour: started by root, the checks of the service account's commands run in a child process as that account,
 *            because they open and execute files that the account owns. All other checks run in this process, also those
 *            of its commands that look at files of root's alone. The login for migrations, which root keeps for itself,
 *            is handed to a child of its own, on its standard input: that one is closed to other processes of the
 *            account, and runs nothing that the account chose. Where root cannot become the account, or the host does
 *            not say who it is, that is the one finding of each such command.
 */
export async function doctorFindings(examination: Examination): Promise<Examined> {
  const { commands, env } = examination;
  const handedLogin = isRoot() && commands.includes("migrate") ? await readAsRoot(env) : null;
  const known = isRoot() ? await lookUp() : null;
  const isOthers = (command: CommandName) =>
    known !== null &&
    (known.account !== null || known.problem !== null) &&
    COMMAND_FACTS[command].account !== "root";
  const prepared = { ...examination, handedLogin };
  const findings = await Promise.all([
    runHere({ ...prepared, commands: commands.filter((command) => !isOthers(command)) }, known),
    known === null ? [] : runThere({ ...prepared, commands: commands.filter(isOthers) }, known),
  ]);
  const all = findings.flat();
  const own = checksFor(commands, { isNamed: true }).filter(({ isOfHost }) => isOfHost);
  const isSaid = all.some(
    (finding) =>
      isOthers(finding.command) && isProblem(finding.status) && !own.some((check) => isOf(finding, check)),
  );
  return {
    findings: commands.flatMap((command) => all.filter((finding) => finding.command === command)),
    saidBy: isSaid ? (known?.account?.name ?? null) : null,
  };
}

function isProblem(status: Finding["status"]): boolean {
  return status === "warn" || status === "fail";
}

async function lookUp(): Promise<Known> {
  const begunMs = performance.now();
  const found = await findServiceAccount(ACCOUNT_LIMIT_MS).then(
    (account) => ({ account, problem: null }),
    (error: unknown) => ({ account: null, problem: asOpsError(error, "look up the account") }),
  );
  return { ...found, spentMs: performance.now() - begunMs };
}

async function runHere(
  { commands, isNamed, ...prepared }: Prepared,
  known: Known | null,
): Promise<Finding[]> {
  if (commands.length === 0) return [];
  const checks = checksFor(commands, { isNamed });
  if (known === null) return await runDoctor(openDoctorDependencies(prepared), checks);
  const { account, problem, spentMs } = known;
  const findAccount = async () => {
    if (problem !== null) throw problem;
    return account;
  };
  const limitMs = checkLimitMs(spentMs);
  return await runDoctor(openDoctorDependencies({ ...prepared, limitMs, findAccount }), checks);
}

/** The findings about the account's commands, once `tryAccount` has shown that root can become the account. */
async function runThere(prepared: Prepared, { account, problem, spentMs }: Known): Promise<Finding[]> {
  const { commands, handedLogin } = prepared;
  if (commands.length === 0) return [];
  if (account === null) return commands.map((command) => unavailable(command, problem as OpsError));
  const needsLogin = (command: CommandName) => command === "migrate" && handedLogin !== null;
  try {
    const become = await tried(account, { spentMs, isClosed: commands.some(needsLogin) });
    const findings = await Promise.all([
      runAs(become, {
        ...prepared,
        handedLogin: null,
        commands: commands.filter((command) => !needsLogin(command)),
      }),
      runAs(become, { ...prepared, commands: commands.filter(needsLogin) }),
    ]);
    return findings.flat();
  } catch (error) {
    const failure = asOpsError(error, "become the account");
    return commands.map((command) => unavailable(command, failure));
  }
}

async function tried(
  account: ServiceAccount,
  { spentMs, isClosed }: { spentMs: number; isClosed: boolean },
): Promise<Become> {
  const isLocal = localNames(account) !== null;
  const begunMs = performance.now();
  // Where no directory service is asked, only a busy host makes it slow.
  await tryAccount(account, { limitMs: isLocal ? BEGIN_LIMIT_MS : directoryTrialMs(spentMs), isClosed });
  const trialMs = isLocal ? 0 : performance.now() - begunMs;
  return { account, isLocal, spentMs: spentMs + trialMs, trialMs };
}

/** The findings of a doctor that runs as the account; a check that it does not report counts as not ended in time. */
async function runAs(
  { account, isLocal, spentMs, trialMs }: Become,
  { commands, isNamed, env, envDir, handedLogin }: Prepared,
): Promise<Finding[]> {
  if (commands.length === 0) return [];
  const checks = checksFor(commands, { isNamed });
  const limitMs = checkLimitMs(spentMs + trialMs);
  const order: DoctorOrder = { isNamed, limitMs, account };
  const words = [envDir, commands.join(","), JSON.stringify(order)];
  const isClosed = handedLogin !== null;
  const start = startAs(account, [...internalCommand("doctor").command, ...words], {
    ...{ env, endSignal: "KILL", isClosed },
  });
  const input = isClosed ? starterMark("root") : undefined;
  const child = spawn(start.program, start.args, {
    ...{ env: { ...start.env, [HANDED_INPUT]: input }, cwd: "/", detached: true },
    stdio: [isClosed ? "pipe" : "ignore", "pipe", "ignore"],
  });
  // A child that ends before it has read is one that reports nothing.
  if (isClosed) child.stdin?.on("error", () => {}).end(writtenHanded(handedLogin));
  const limits = isLocal
    ? { beginMs: BEGIN_LIMIT_MS, limitMs: SAID_LIMIT_MS }
    : { limitMs: directoryChildMs(spentMs) };
  const [reported, seen] = await Promise.all([
    reportedBy(child, checks, limits),
    runDoctor(
      openDoctorDependencies({ env, envDir, limitMs, findAccount: async () => account }),
      checksFor(commands, { isNamed: true }).filter(({ isOfHost }) => isOfHost),
    ),
  ]);
  if (reported.length === 0) return commands.map((command) => nothingReported(command, { account, envDir }));
  const reporter = reporterOf(account, { env, envDir, handedLogin });
  return checks.flatMap((check) => {
    const { command, name, isOfHost } = check;
    const found = reported.find((one) => isOf(one, check))?.findings;
    if (found === undefined) return [{ command, check: name, ...noAnswer(check, { limitMs, envDir }) }];
    // The account only says whether the part is set up.
    if (isOfHost && found.length > 0) return seen.filter((finding) => isOf(finding, check));
    return found.map((finding) => withSafeMend(finding, reporter));
  });
}

function withSafeMend(finding: Finding, reporter: Reporter): Finding {
  return { ...finding, mend: finding.mend === null ? null : reportedMend(finding.mend, reporter) };
}

/** What the child reports until every check is in, or the reading of it ends; see `readChild`. */
async function reportedBy(
  child: ChildProcess,
  checks: readonly Check[],
  limits: Pick<ReadingLimits, "beginMs" | "limitMs">,
): Promise<ReportedCheck[]> {
  const reported: ReportedCheck[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  const isComplete = (piece: Buffer) => {
    const lines = `${rest}${decoder.decode(piece, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    reported.push(...lines.flatMap((line) => parseReportedFindings(line) ?? []));
    return checks.every((check) => reported.some((one) => isOf(one, check)));
  };
  await readChild(child, { ...limits, maxBytes: MAX_OUTPUT, isComplete });
  // What the account's programs have left running there.
  killGroup(child.pid);
  return reported;
}

function isOf(
  { command, check }: Record<"command" | "check", string>,
  { command: of, name }: Check,
): boolean {
  return command === of && check === name;
}

/** Why there are no findings about a command of the account. */
function unavailable(command: CommandName, problem: OpsError): Finding {
  return { command, check: ACCOUNT_CHECK, ...fail(problem.code, reasonOf(problem), problem.hint ?? null) };
}

function nothingReported(
  command: CommandName,
  { account: { name }, envDir }: { account: ServiceAccount; envDir: string },
): Finding {
  const opsctl = selfCommand().map(shellWord).join(" ");
  const verdict = fail(
    "CHECK_FAILED",
    `the checks as the account ${name} said nothing: they could not be started, or did not end in time`,
    // `--pty` gives it a terminal of its own: into root's terminal the account could type.
    `runuser --pty -u ${name} -- ${opsctl} doctor ${command}${envDirOption(envDir)}`,
  );
  return { command, check: ACCOUNT_CHECK, ...verdict };
}

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { type ToldCheck, toldFindings } from "../../lib/doctor/advice/told-findings.ts";
import { type ToldBy, toldMend } from "../../lib/doctor/advice/told-mend.ts";
import { checksOf } from "../../lib/doctor/checks/all.ts";
import type { Check } from "../../lib/doctor/context/check.ts";
import { COMMAND_FACTS } from "../../lib/doctor/context/command-facts.ts";
import { type CommandName, type Finding, fail } from "../../lib/doctor/finding.ts";
import { noAnswer, runDoctor } from "../../lib/doctor/run.ts";
import { isRoot } from "../../lib/platform/account/account.ts";
import { findServiceAccount, type ServiceAccount } from "../../lib/platform/account/service-account.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { LIMIT_MS, openDoctorDependencies } from "../wiring/doctor.ts";
import { internalCommand } from "./internal.ts";
import { startAs } from "./run-as.ts";
import { selfCommand } from "./self-command.ts";

/** Counted from the start of this process: what a child has not said by then is not waited for. */
const CHILD_LIMIT_MS = 4_500;
/** Far more than honest findings take. */
const MAX_OUTPUT = 1_048_576;

/** Where `make install` puts what the account uses, and the settings. */
const ACCOUNTS_PLACES = ["/var/lib/opsctl", "/var/log/opsctl"];
const SETTINGS = "/etc/opsctl";

/** What is asked for: commands, and where their environment files are. */
export type Examination = { commands: readonly CommandName[]; env: Environment; envDir: string };

/**
 * The findings about these commands, in the order of their checks.
 *
 * Behaviour: started by root, the checks of a command run as the account that runs it: those of the service account's
 *            commands in a child that has become it, because they open and execute what that account owns.
 * Errors:    ACCOUNT_UNAVAILABLE when the host does not say whether there is such an account.
 */
export async function doctorFindings(examination: Examination): Promise<Finding[]> {
  const account = isRoot() ? await findServiceAccount() : null;
  const { commands } = examination;
  const isOwn = (command: CommandName) => account === null || COMMAND_FACTS[command].account === "root";
  const others = commands.filter((command) => !isOwn(command));
  const [own, told] = await Promise.all([
    runHere({ ...examination, commands: commands.filter(isOwn) }),
    account === null || others.length === 0 ? [] : runAs(account, { ...examination, commands: others }),
  ]);
  const all = [...own, ...told];
  return commands.flatMap((command) => all.filter((finding) => finding.command === command));
}

async function runHere({ commands, env, envDir }: Examination): Promise<Finding[]> {
  return commands.length === 0
    ? []
    : await runDoctor(openDoctorDependencies({ env, envDir }), commands.flatMap(checksOf));
}

/** What a doctor says that is the account; of a check of which it says nothing, that it did not end in its time. */
async function runAs(account: ServiceAccount, { commands, env, envDir }: Examination): Promise<Finding[]> {
  const checks = commands.flatMap(checksOf);
  const command = [...internalCommand("doctor").command, envDir, commands.join(",")];
  const { program, args, env: ofChild } = startAs(account, command, { env, endSignal: "KILL" });
  const child = spawn(program, args, {
    ...{ env: ofChild, cwd: "/", detached: true },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const told = await toldBy(child, checks);
  if (told.length === 0) return commands.map((command) => unheard(command, account));
  const by = { ...account, places: ACCOUNTS_PLACES, settings: [SETTINGS, envDir.replace(/(?<=.)\/+$/, "")] };
  return checks.flatMap(
    (check) =>
      told.find((one) => isOf(one, check))?.findings.map((finding) => withToldMend(finding, by)) ?? [
        { command: check.command, check: check.name, ...noAnswer(LIMIT_MS) },
      ],
  );
}

function withToldMend(finding: Finding, by: ToldBy): Finding {
  return { ...finding, mend: finding.mend === null ? null : toldMend(finding.mend, by) };
}

/**
 * What the child says until it has spoken of every check, ends, says too much, or its time does; then all of it is ended.
 *
 * Behaviour: any process of that account may take over the child's output and go on writing when the child has ended:
 *            from then on nothing is read, or this process would do nothing else.
 */
async function toldBy(child: ChildProcess, checks: readonly Check[]): Promise<ToldCheck[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    child.stdout?.destroy();
    resolve();
  };
  const timer = setTimeout(done, Math.max(0, CHILD_LIMIT_MS - performance.now()));
  const told: ToldCheck[] = [];
  let [rest, length] = ["", 0];
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    const lines = `${rest}${part}`.split("\n");
    rest = lines.pop() ?? "";
    length += part.length;
    told.push(...lines.flatMap((line) => toldFindings(line) ?? []));
    if (length > MAX_OUTPUT || checks.every((check) => told.some((one) => isOf(one, check)))) done();
  });
  child.once("close", done).once("error", done);
  await promise;
  clearTimeout(timer);
  endGroup(child.pid);
  return told;
}

function isOf({ command, check }: ToldCheck, { command: of, name }: Check): boolean {
  return command === of && check === name;
}

/** The child leads a session, and so a group, of its own. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

function unheard(command: CommandName, { name }: ServiceAccount): Finding {
  const [program] = selfCommand();
  const verdict = fail(
    `the checks as the account ${name} said nothing: they could not be started, or did not end in time`,
    // With a terminal of its own: in root's the account could type.
    `runuser --pty -u ${name} -- ${program} doctor ${command}`,
  );
  return { command, check: "service account", ...verdict };
}

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { COMMAND_FACTS } from "../lib/doctor/command-facts.ts";
import { type CommandName, type Finding, fail } from "../lib/doctor/finding.ts";
import { toldFindings } from "../lib/doctor/told-findings.ts";
import { isRoot } from "../lib/platform/account.ts";
import { startAs } from "../lib/platform/run-as.ts";
import type { Environment } from "../lib/platform/secrets.ts";
import { selfCommand } from "../lib/platform/self-command.ts";
import { findServiceAccount, type ServiceAccount } from "../lib/platform/service-account.ts";

/** Counted from the start of this process: what a child has not said by then is not waited for. */
const CHILD_LIMIT_MS = 4_800;
const MAX_OUTPUT = 4 * 1_048_576;

/** What is asked for: commands, and where their environment files are. */
export type Examination = { commands: readonly CommandName[]; env: Environment; envDir: string };

/**
 * The findings about these commands, in their order.
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
  if (commands.length === 0) return [];
  const { checksOf } = await import("../lib/doctor/checks/all.ts");
  const { runDoctor } = await import("../lib/doctor/run.ts");
  const { openDoctorWorld } = await import("./doctor-world.ts");
  return await runDoctor(openDoctorWorld({ env, envDir }), commands.flatMap(checksOf));
}

/** The findings of a doctor that is the account; for a command of which it says nothing, that it did not. */
async function runAs(account: ServiceAccount, { commands, env, envDir }: Examination): Promise<Finding[]> {
  const words = ["doctor", commands.join(","), "--json", "--env-dir", envDir];
  const start = startAs(account, [...selfCommand(), ...words], { env, endSignal: "KILL" });
  const child = spawn(start.program, start.args, {
    ...{ env: start.env, cwd: "/", detached: true },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const told = toldFindings(await firstLine(child)) ?? [];
  const silent = commands.filter((command) => !told.some((finding) => finding.command === command));
  return [...told, ...silent.map((command) => unheard(command, account, start.program))];
}

/** What the child prints until its line ends, it ends or its time does; then it and all that it started is ended. */
async function firstLine(child: ChildProcess): Promise<string> {
  let text = "";
  const done = new Promise<void>((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (part.includes("\n") || text.length > MAX_OUTPUT) resolve();
    });
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, Math.max(0, CHILD_LIMIT_MS - performance.now()));
  await Promise.race([done, timer.promise]);
  clearTimeout(timeout);
  endGroup(child.pid);
  return text;
}

/** The child leads a session, and so a group, of its own. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

function unheard(command: CommandName, { name }: ServiceAccount, setpriv: string): Finding {
  const [program] = selfCommand();
  const verdict = fail(
    `the checks as the account ${name} said nothing: they could not be started, or did not end in time`,
    `${setpriv} --reuid=${name} --regid=${name} --init-groups ${program} doctor ${command}`,
  );
  return { command, check: "service account", ...verdict };
}

import process from "node:process";
import { untrustedEnd, untrustedStep, wayTo } from "../../../platform/files/trusted-path.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { accessOf, directoryCode, directoryLine } from "../../facts/access.ts";
import type { Account } from "../../facts/accounts.ts";
import { unseenVerdict } from "../../facts/reader.ts";
import { type CommandName, fail, pass, type Verdict } from "../../finding.ts";

/** The account that a command runs as; the account that runs doctor where the host has no such account. */
export async function accountOf(command: CommandName, context: CheckContext): Promise<Account> {
  const { account } = COMMAND_FACTS[command];
  const known = account === null ? null : await context.account(account);
  return known ?? thisAccount();
}

/** Node says that the list of groups may leave out the effective one. */
function thisAccount(): Account {
  const gids = [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])];
  return { name: "this account", uid: process.geteuid?.() ?? 0, gids };
}

/** Whether a command's account may make and change files in a directory, judged by modes and owners. */
export async function writableVerdict(
  command: CommandName,
  context: CheckContext,
  path: string,
  mode: string,
): Promise<Verdict> {
  const account = await accountOf(command, context);
  const access = await accessOf(path, account, "write-into");
  if (access.status === "allowed") return pass(`${path} can be written to by ${account.name}`);
  if (access.why === "hidden") return unseenVerdict(access.at, access.error, command, context);
  const owner = COMMAND_FACTS[command].account ?? "root";
  if (access.why === "closed" && access.at !== path)
    return fail("DIRECTORY_CLOSED", access.text, `chmod o+x ${access.at}`);
  return fail(
    directoryCode(access),
    access.text,
    directoryLine(access, path, `-o ${owner} -g ${owner} -m ${mode}`),
  );
}

/** The same for a directory in which no other account may write, such as the state directory. */
export async function privateVerdict(
  command: CommandName,
  context: CheckContext,
  path: string,
): Promise<Verdict> {
  const writable = await writableVerdict(command, context, path, "0700");
  if (writable.status !== "pass") return writable;
  const { uid } = await accountOf(command, context);
  const { steps, end } = wayTo(path);
  const found = untrustedStep(steps, [0, uid]) ?? (end && untrustedEnd(end, [0, uid]));
  if (found === null) return writable;
  const owner = COMMAND_FACTS[command].account ?? "root";
  const mend =
    found.mend ?? `install -d -o ${owner} -g ${owner} -m 0700 <directory> # then name it in OPSCTL_STATE_DIR`;
  return fail("FILE_UNTRUSTED", `${path} will not be used: ${found.why}`, mend);
}

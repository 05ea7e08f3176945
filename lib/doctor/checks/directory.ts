import process from "node:process";
import { accessOf, directoryLine } from "../access.ts";
import type { Account } from "../accounts.ts";
import { COMMAND_FACTS } from "../command-facts.ts";
import type { Desk } from "../desk.ts";
import { type CommandName, fail, notChecked, pass, type Verdict } from "../finding.ts";

/** The account that a command runs as; whoever runs doctor where the host has no such account. */
export async function accountOf(command: CommandName, desk: Desk): Promise<Account> {
  const { account } = COMMAND_FACTS[command];
  const known = account === null ? null : await desk.account(account);
  const own = { name: "this account", uid: process.geteuid?.() ?? 0, gids: [process.getegid?.() ?? 0] };
  return known ?? own;
}

/** Whether a command's account may make and change files in a directory, judged by modes and owners. */
export async function writableVerdict(
  command: CommandName,
  desk: Desk,
  path: string,
  mode: string,
): Promise<Verdict> {
  const account = await accountOf(command, desk);
  const access = await accessOf(path, account, "write-into");
  if (access.ok) return pass(`${path} can be written to by ${account.name}`);
  if (access.why === "hidden") return notChecked(access.text, `sudo opsctl doctor ${command}`);
  const owner = COMMAND_FACTS[command].account ?? "root";
  if (access.why === "closed" && access.at !== path) return fail(access.text, `chmod o+x ${access.at}`);
  return fail(access.text, directoryLine(access, path, `-o ${owner} -g ${owner} -m ${mode}`));
}

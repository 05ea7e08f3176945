import { spawn } from "node:child_process";
import type { ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { killGroup } from "../../lib/platform/kill-group.ts";
import { readChild } from "../../lib/platform/read-child.ts";
import {
  ACCOUNT_COMMANDS,
  type FileFacts,
  parseFileFacts,
  ROOT_COMMANDS,
  readFileFacts,
} from "../../lib/secret/file-facts.ts";
import type { Unread } from "../../lib/secret/list.ts";
import { asOpsError } from "../framework/failure.ts";
import { internalCommand } from "./internal-command.ts";
import { startAs } from "./run-as.ts";
import { tryAccount } from "./try-account.ts";

const LIMIT_MS = 4_000;
/** Bytes read of the child; honest facts need far fewer. */
const MAX_OUTPUT = 65_536;
const LINE_END = 10;

/** What the environment files say about secrets; `unread` says why the account's could not be read, or is null. */
export type AllFacts = { facts: FileFacts[]; unread: Unread | null };

/**
 * What the environment files of a directory say about secrets; null stands for no directory.
 *
 * Behaviour: with `account`, which root passes, the files of that account are read by a child process that has become
 *            it: root opens none of them. Before that the account is become once for nothing, as for a command of its
 *            own.
 */
export async function secretFacts(envDir: string | null, account: ServiceAccount | null): Promise<AllFacts> {
  if (envDir === null) return { facts: [], unread: null };
  const own = readFileFacts(ROOT_COMMANDS, envDir);
  if (account === null) return { facts: [...readFileFacts(ACCOUNT_COMMANDS, envDir), ...own], unread: null };
  const { facts, unread } = await factsOfAccount(account, envDir);
  return { facts: [...facts, ...own], unread };
}

async function factsOfAccount(account: ServiceAccount, envDir: string): Promise<AllFacts> {
  try {
    await tryAccount(account, { limitMs: LIMIT_MS, isClosed: false });
    const reported = await reportedBy(account, envDir);
    return reported === null ? { facts: [], unread: UNTOLD } : { facts: reported, unread: null };
  } catch (error) {
    const { code, message, hint } = asOpsError(error, "become the account");
    return { facts: [], unread: { why: `${code}: ${message}`, mend: hint ?? UNTOLD.mend } };
  }
}

const UNTOLD: Unread = {
  why: "a process of that account, which reads them for root, told nothing",
  mend: "opsctl doctor says why",
};

async function reportedBy(account: ServiceAccount, envDir: string): Promise<FileFacts[] | null> {
  const { command, env } = internalCommand("secret-facts");
  const start = startAs(account, [...command, envDir], { env, endSignal: "KILL" });
  const child = spawn(start.program, start.args, {
    ...{ env: start.env, cwd: "/", detached: true },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const isComplete = (piece: Buffer) => piece.at(-1) === LINE_END;
  const { stdout } = await readChild(child, { limitMs: LIMIT_MS, maxBytes: MAX_OUTPUT, isComplete });
  killGroup(child.pid);
  return parseFileFacts(stdout.toString(), envDir);
}

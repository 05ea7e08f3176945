import { spawn } from "node:child_process";
import type { ServiceAccount } from "../../lib/platform/account/service-account.ts";
import { unlessLate } from "../../lib/platform/time-limit.ts";
import {
  ACCOUNT_COMMANDS,
  type FileFacts,
  parseFileFacts,
  ROOT_COMMANDS,
  readFileFacts,
} from "../../lib/secret/file-facts.ts";
import { internalCommand } from "./internal-command.ts";
import { killGroup } from "./kill-group.ts";
import { startAs } from "./run-as.ts";

const LIMIT_MS = 4_000;
/** Characters read of the child; honest facts need far fewer. */
const MAX_OUTPUT = 65_536;

/** What the environment files say about secrets; `isWhole` is false where those of the account could not be read. */
export type AllFacts = { facts: FileFacts[]; isWhole: boolean };

/**
 * What the environment files of a directory say about secrets; null stands for no directory.
 *
 * Behaviour: with `account`, which root passes, the files of that account are read by a child process that has become it:
 *            root opens none of them.
 */
export async function secretFacts(envDir: string | null, account: ServiceAccount | null): Promise<AllFacts> {
  if (envDir === null) return { facts: [], isWhole: true };
  const own = readFileFacts(ROOT_COMMANDS, envDir);
  if (account === null) return { facts: [...readFileFacts(ACCOUNT_COMMANDS, envDir), ...own], isWhole: true };
  const reported = await factsOfAccount(account, envDir);
  return { facts: [...(reported ?? []), ...own], isWhole: reported !== null };
}

async function factsOfAccount(account: ServiceAccount, envDir: string): Promise<FileFacts[] | null> {
  const { command, env } = internalCommand("secret-facts");
  const start = startAs(account, [...command, envDir], { env, endSignal: "KILL" });
  const child = spawn(start.program, start.args, {
    ...{ env: start.env, cwd: "/", detached: true },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  // Nothing is read after that: another process of the account can take over the output and write without end.
  const done = () => {
    child.stdout.destroy();
    resolve();
  };
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    if (text.length > MAX_OUTPUT || text.endsWith("\n")) done();
  });
  child.once("close", done).once("error", done);
  await unlessLate({ limitMs: LIMIT_MS }, () => promise, done);
  killGroup(child.pid);
  return parseFileFacts(text);
}

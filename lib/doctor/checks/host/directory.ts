import { inWords } from "../../../platform/errors.ts";
import { findForeign } from "../../../platform/files/trusted-path.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { accessOf, directoryCode, directoryFix } from "../../facts/access.ts";
import { closedVerdict, isReader, unseenVerdict } from "../../facts/reader.ts";
import { type CommandName, fail, pass, type Verdict } from "../../finding.ts";

/** Whether a command's account may make and change files in a directory. */
export async function writableVerdict(
  command: CommandName,
  context: CheckContext,
  path: string,
  mode: string,
): Promise<Verdict> {
  if (!(await isReader(command, context)))
    return closedVerdict(
      `whether ${path} can be written to: this account is not the one that writes`,
      command,
      context,
    );
  const access = await accessOf(path, "write-into");
  if (access.status === "allowed") return pass(`${path} can be written to`);
  if (access.why === "unseen") return await unseenVerdict(access.at, access.error, command, context);
  const owner = COMMAND_FACTS[command].account ?? "root";
  return fail(directoryCode(access), access.text, directoryFix(access, path, { owner, mode }));
}

/** The same for a directory in which no other account may write, such as the state directory. */
export async function privateVerdict(
  command: CommandName,
  context: CheckContext,
  path: string,
): Promise<Verdict> {
  const writable = await writableVerdict(command, context, path, "0700");
  if (writable.status !== "pass") return writable;
  const found = findForeign(path);
  return found === null
    ? writable
    : fail("FILE_UNTRUSTED", `${path} will not be used: ${found.why}`, PRIVATE);
}

const PRIVATE = inWords(
  "Close it to group and others (chmod go-w), or name in OPSCTL_STATE_DIR a directory of the account with mode 0700 " +
    "whose whole way no other account may write to",
);

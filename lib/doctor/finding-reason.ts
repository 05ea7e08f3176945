import { join } from "node:path";
import type { OpsError } from "../platform/errors.ts";
import { DEFAULT_SECRETS_DIR, type Environment, secretsDirectory } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS, ROOT_SECRETS_DIR } from "../platform/secrets/file.ts";
import { COMMAND_FACTS } from "./context/command-facts.ts";
import type { CommandName } from "./finding.ts";

/** The reason of a finding for an error: its code, and its message without what was tried. */
export function reasonOf({ code, message }: Pick<OpsError, "code" | "message">): string {
  const [first = ""] = message.split("\n");
  return `${code}: ${first.replace(/^Cannot [^:]+: /, "")}`;
}

/**
 * The line that puts a secret where its command finds it; the value comes from the terminal or from standard input.
 *
 * Behaviour: in a directory that the settings name, the line is judged before root is shown it; `secret set` is not.
 */
export function secretMend(command: CommandName, name: string, env: Environment): string {
  const { account } = COMMAND_FACTS[command];
  const owner = account === null ? "" : ` -o ${account}`;
  return (
    secretSetLine(command, name, env) ??
    `install -D -m 0600${owner} /dev/stdin ${join(directoryOf(account, env), name)}`
  );
}

/** `opsctl secret set` for this secret; null where the settings name another directory, which it does not look at. */
export function secretSetLine(command: CommandName, name: string, env: Environment): string | null {
  const { account } = COMMAND_FACTS[command];
  const directory = directoryOf(account, env);
  if (directory !== directoryOf(account, {})) return null;
  const isForRoot = directory === ROOT_SECRETS_DIR && !ROOT_SECRETS.includes(name);
  return `opsctl secret set ${name}${isForRoot ? " --root" : ""}`;
}

function directoryOf(account: string | null, env: Environment): string {
  const named = env.OPSCTL_SECRETS_DIR?.trim();
  if (named || account === null) return secretsDirectory(env);
  return account === "root" ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR;
}

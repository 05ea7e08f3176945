import { join } from "node:path";
import type { OpsError } from "../platform/errors.ts";
import { DEFAULT_SECRETS_DIR, type Environment } from "../platform/secrets.ts";
import { COMMAND_FACTS } from "./command-facts.ts";
import type { CommandName } from "./finding.ts";

/** An error as the reason of a finding: its code, and its message without what was tried. */
export function reasonOf({ code, message }: OpsError): string {
  const [first = ""] = message.split("\n");
  return `${code}: ${first.replace(/^Cannot [^:]+: /, "")}`;
}

/** The line that puts a secret where its command finds it; the value comes from standard input. */
export function secretMend(command: CommandName, name: string, env: Environment): string {
  const { account } = COMMAND_FACTS[command];
  const owner = account === null ? "" : ` -o ${account}`;
  const path = join(env.OPSCTL_SECRETS_DIR?.trim() || DEFAULT_SECRETS_DIR, name);
  return `install -D -m 0600${owner} /dev/stdin ${path}`;
}

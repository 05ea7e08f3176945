import { join } from "node:path";
import { SERVICE_ACCOUNT } from "../platform/account/service-account.ts";
import type { OpsError } from "../platform/errors.ts";
import { DEFAULT_SECRETS_DIR, type Environment, secretsDirectory } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../platform/secrets/file.ts";
import { COMMAND_FACTS } from "./context/command-facts.ts";
import type { CommandName } from "./finding.ts";

/** The reason of a finding for an error: its code, and its message without what was tried. */
export function reasonOf({ code, message }: OpsError): string {
  const [first = ""] = message.split("\n");
  return `${code}: ${first.replace(/^Cannot [^:]+: /, "")}`;
}

/**
 * The line that puts a secret where its command finds it; the value comes from standard input.
 *
 * Behaviour: a secret below /etc/opsctl is given to the service account, also for a command without an account of its
 *            own, because that command becomes the service account when root starts it.
 */
export function secretMend(command: CommandName, name: string, env: Environment): string {
  const { account } = COMMAND_FACTS[command];
  const directory = directoryOf(account, env);
  const reader = account ?? (directory === DEFAULT_SECRETS_DIR ? SERVICE_ACCOUNT : null);
  const owner = reader === null ? "" : ` -o ${reader}`;
  return `install -D -m 0600${owner} /dev/stdin ${join(directory, name)}`;
}

function directoryOf(account: string | null, env: Environment): string {
  const named = env.OPSCTL_SECRETS_DIR?.trim();
  if (named || account === null) return secretsDirectory(env);
  return account === "root" ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR;
}

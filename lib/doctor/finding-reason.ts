import { type Fix, inWords, type OpsError } from "../platform/errors.ts";
import { DEFAULT_SECRETS_DIR, type Environment, secretsDirectory } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS, ROOT_SECRETS_DIR } from "../platform/secrets/root-secrets.ts";
import { COMMAND_FACTS } from "./context/command-facts.ts";
import { type CommandName, command } from "./finding.ts";

/** The reason of a finding for an error: its code, and its message without what was tried. */
export function reasonOf({ code, message }: Pick<OpsError, "code" | "message">): string {
  const [first = ""] = message.split("\n");
  return `${code}: ${first.replace(/^Cannot [^:]+: /, "")}`;
}

/** What puts a secret where its command finds it; the value comes from the terminal or from standard input. */
export function secretFix(of: CommandName, name: string, env: Environment): Fix {
  return secretSetFix(of, name, env) ?? (inWords(PUT_FILE) as Fix);
}

const PUT_FILE =
  "Put it, as a file of its name with mode 0600, of the account that runs the command, into the directory that OPSCTL_SECRETS_DIR names";

/** `opsctl secret set` for this secret; null where the settings name another directory, which it does not look at. */
export function secretSetFix(of: CommandName, name: string, env: Environment): Fix | null {
  const { account } = COMMAND_FACTS[of];
  const directory = directoryOf(account, env);
  if (directory !== directoryOf(account, {})) return null;
  const isForRoot = directory === ROOT_SECRETS_DIR && !ROOT_SECRETS.includes(name);
  return command(`opsctl secret set ${name}${isForRoot ? " --root" : ""}`);
}

function directoryOf(account: string | null, env: Environment): string {
  const named = env.OPSCTL_SECRETS_DIR?.trim();
  if (named || account === null) return secretsDirectory(env);
  return account === "root" ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR;
}

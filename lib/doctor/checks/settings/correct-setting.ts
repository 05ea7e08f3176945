import { knownSecret } from "../../../platform/config/known-secrets.ts";
import { type Fix, inWords } from "../../../platform/errors.ts";
import {
  DEFAULT_SECRETS_DIR,
  type Environment,
  secretsDirectory,
} from "../../../platform/secrets/adapter.ts";
import { ROOT_SECRETS, ROOT_SECRETS_DIR } from "../../../platform/secrets/root-secrets.ts";
import { serviceStep } from "../../../secret/after-set.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { type CommandName, command } from "../../finding.ts";

/** The advice to correct a setting of a command, with the file in which its value stands. */
export async function correctSetting(context: CheckContext, of: CommandName, name: string): Promise<Fix> {
  const { file } = await context.environment(of);
  return inWords(`Correct ${name} in ${file.path}`) as Fix;
}

/**
 * The advice to put another value in the place of a secret that its service refuses: the command that does it, or where
 * the value stands that no command of opsctl changes; then what makes the webhook's service take it.
 */
export async function correctSecret(context: CheckContext, of: CommandName, name: string): Promise<Fix> {
  const secret = knownSecret(name);
  const service = secret === null ? null : serviceStep(secret);
  const { text, command: line } = await correctionOf(context, of, name);
  if (service === null) return { text, command: line };
  return line === null ? command(service, `${text}, then:`) : command(`${line} && ${service}`, text);
}

async function correctionOf(context: CheckContext, of: CommandName, name: string): Promise<Fix> {
  const search = (await context.secrets(of)).find((secret) => secret.name === name);
  const { layer = "file", path = null } = search?.found ?? {};
  if (layer === "command") return inWords(`Correct ${name} where OPSCTL_SECRETS_COMMAND gets it`) as Fix;
  const { env, file } = await context.environment(of);
  const set = layer === "file" ? secretSetFix(file.command, name, env) : null;
  return set ?? (inWords(`Correct ${name} in ${path ?? file.path}`) as Fix);
}

/** What puts a secret where its command finds it; the value comes from the terminal or from standard input. */
export function secretFix(of: CommandName, name: string, env: Environment): Fix {
  return secretSetFix(of, name, env) ?? (inWords(PUT_FILE) as Fix);
}

const PUT_FILE =
  "Put it, as a file of its name with mode 0600, of the account that runs the command, into the directory that OPSCTL_SECRETS_DIR names";

/** `opsctl secret set` for this secret; null where the settings name another directory, which it does not look at. */
function secretSetFix(of: CommandName, name: string, env: Environment): Fix | null {
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

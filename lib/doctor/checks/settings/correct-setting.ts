import { knownSecret } from "../../../platform/config/known-secrets.ts";
import { type Fix, inWords } from "../../../platform/errors.ts";
import { serviceStep } from "../../../secret/after-set.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { type CommandName, command } from "../../finding.ts";
import { secretSetFix } from "../../finding-reason.ts";

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

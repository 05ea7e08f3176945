import { knownSecret } from "../../../platform/config/names/known-secrets.ts";
import { serviceStep } from "../../../secret/after-set.ts";
import type { CheckContext } from "../../context/check-context.ts";
import type { CommandName } from "../../finding.ts";
import { secretSetLine } from "../../finding-reason.ts";

/** The advice to correct a setting of a command, with the file in which its value stands. */
export async function correctSetting(
  context: CheckContext,
  command: CommandName,
  name: string,
): Promise<string> {
  const { file } = await context.environment(command);
  return `Correct ${name} in ${file.path}`;
}

/**
 * The advice to put another value in the place of a secret that its peer refuses: the command that does it, or where
 * the value stands that no command of opsctl changes; then what makes the webhook's service take it.
 */
export async function correctSecret(
  context: CheckContext,
  command: CommandName,
  name: string,
): Promise<string> {
  const secret = knownSecret(name);
  const service = secret === null ? null : serviceStep(secret);
  const correction = await correctionOf(context, command, name);
  return service === null ? correction : `${correction}, then ${service}`;
}

async function correctionOf(context: CheckContext, command: CommandName, name: string): Promise<string> {
  const search = (await context.secrets(command)).find((secret) => secret.name === name);
  const { layer = "file", path = null } = search?.found ?? {};
  if (layer === "command") return `Correct ${name} where OPSCTL_SECRETS_COMMAND gets it`;
  const { env, file } = await context.environment(command);
  const line = layer === "file" ? secretSetLine(file.command, name, env) : null;
  return line ?? `Correct ${name} in ${path ?? file.path}`;
}

import { type Fix, inWords } from "../../../platform/errors.ts";
import type { Environment } from "../../../platform/secrets/adapter.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { type CommandName, command } from "../../finding.ts";

/** The advice to correct a setting of a command, with the file in which its value stands. */
export async function correctSetting(context: CheckContext, of: CommandName, name: string): Promise<Fix> {
  const { file } = await context.environment(of);
  return inWords(`Correct ${name} in ${file.path}`) as Fix;
}

/** The advice to replace a secret that its service refuses, where the value that counts is. */
export async function correctSecret(context: CheckContext, of: CommandName, name: string): Promise<Fix> {
  const { found } = (await context.secrets(of)).find((secret) => secret.name === name) ?? {};
  const { env, file } = await context.environment(of);
  if (found?.layer === "command")
    return inWords(`Correct ${name} where OPSCTL_SECRETS_COMMAND gets it`) as Fix;
  const set = setSecret(name, env);
  if (found?.layer !== "environment" && set.command !== null) return set;
  return inWords(`Correct ${name} in ${found?.path ?? file.path}`) as Fix;
}

/** What gives a secret a value: `opsctl secret set`, which knows no directory that only an environment file names. */
export function setSecret(name: string, { OPSCTL_SECRETS_DIR: directory }: Environment): Fix {
  if (!directory?.trim()) return command(`opsctl secret set ${name}`);
  return inWords(
    "Put it, as a file of its name with mode 0600, into the directory of OPSCTL_SECRETS_DIR",
  ) as Fix;
}

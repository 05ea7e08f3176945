import type { CheckContext } from "../context/check-context.ts";
import type { CommandName } from "../finding.ts";

/** The advice to correct a setting or a secret of a command, with the file in which its value stands. */
export async function correctSetting(
  context: CheckContext,
  command: CommandName,
  name: string,
): Promise<string> {
  const search = (await context.secrets(command)).find((secret) => secret.name === name);
  const found = search?.found ?? null;
  if (found?.layer === "command") return `Correct ${name} where OPSCTL_SECRETS_COMMAND gets it`;
  const { file } = await context.environment(command);
  return `Correct ${name} in ${found?.path ?? file.path}`;
}

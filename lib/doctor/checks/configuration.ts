import type { OpsError } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Check } from "../context/check.ts";
import type { DoctorDependencies } from "../context/dependencies.ts";
import type { CommandEnvironment } from "../facts/environment.ts";
import { closedVerdict, isForAnotherAccount } from "../facts/reader.ts";
import { type CommandName, fail, notChecked, pass, type Verdict } from "../finding.ts";
import { reasonOf, secretMend } from "../finding-reason.ts";

/** A secret that is somewhere and cannot be had: the check of the secrets says why, and what to do. */
const UNREAD_SECRET = /^Cannot read secret .* \(SECRET_[A-Z_]+\)$/s;

/** What the loader says of a secret, whose mend says it here. */
const AS_SECRET = /; a secret: opsctl secret set \S+$/;

/** Whether the command's own loader accepts its settings: each problem is a finding. */
export function configurationCheck(
  command: CommandName,
  load: (env: Environment, dependencies: DoctorDependencies) => Promise<unknown>,
): Check {
  return {
    command,
    name: "configuration",
    async run(context) {
      const settings = await context.settings(command, "all", load);
      if (settings.status === "ok") return [pass("every setting is there and valid")];
      if (await isForAnotherAccount(settings.error, command, context))
        return [await closedVerdict(reasonOf(settings.error), command, context)];
      return problemsOf(settings.error, await context.environment(command));
    },
  };
}

/** The verdict of a check whose settings are missing; the check `configuration` names them. */
export function withoutSettings(command: CommandName): Verdict[] {
  return [notChecked(`the settings of ${command} that it needs are incomplete, see configuration`)];
}

/** What is wrong with settings that a loader refused: a verdict for each, with what sets it right. */
export function problemsOf(error: OpsError, { file, env }: CommandEnvironment): Verdict[] {
  if (error.code !== "CONFIG_INVALID") return [fail(reasonOf(error), error.hint ?? null)];
  // What stands in that file seems to be missing: the check of the file says what is wrong with it.
  if (file.problem !== null) return [notChecked(`${file.path} was not read, see environment file`)];
  const [, ...lines] = error.message.split("\n");
  return lines.map((line) => {
    const [, name = "", problem = ""] = /^\s*([A-Z0-9_]+): (.*)$/.exec(line) ?? [];
    if (name === "") return fail(line.trim(), error.hint ?? null);
    if (UNREAD_SECRET.test(problem)) return notChecked(`${name} cannot be read, see secrets`);
    const isSecret = AS_SECRET.test(problem);
    const place = isSecret
      ? secretMend(file.command, name, env)
      : `Set ${name} in ${fileNamedBy(error) ?? file.path}`;
    return fail(`${name} ${problem.replace(AS_SECRET, "")}`, place);
  });
}

/** The file that the loader's advice names: the socket monitor's settings stand in the webhook's. */
function fileNamedBy({ hint }: OpsError): string | null {
  return /^Set them in (\/.*)$/s.exec(hint ?? "")?.[1] ?? null;
}

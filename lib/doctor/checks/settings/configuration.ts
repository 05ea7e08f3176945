import { inWords, type OpsError } from "../../../platform/errors.ts";
import type { Environment } from "../../../platform/secrets/adapter.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext, Settings } from "../../context/check-context.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import type { CommandEnvironment } from "../../facts/environment.ts";
import { closedWithFile, isForAnotherAccount } from "../../facts/reader.ts";
import { type CommandName, fail, notChecked, pass, type Verdict } from "../../finding.ts";
import { reasonOf, secretFix } from "../../finding-reason.ts";

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
        return [await closedWithFile(reasonOf(settings.error), command, context)];
      return problemsOf(settings.error, await context.environment(command));
    },
  };
}

/** How the settings that a check needs are found. */
export type SettingsOf<T> = (context: CheckContext) => Promise<Settings<T>>;

/** A check that needs settings: without them it says that they are incomplete. */
export function checkWithSettings<T>(
  { command, name }: Pick<Check, "command" | "name">,
  settingsOf: SettingsOf<T>,
  run: (settings: T, context: CheckContext, signal: AbortSignal) => Promise<Verdict[]>,
): Check {
  return {
    command,
    name,
    async run(context, signal) {
      const settings = await settingsOf(context);
      return settings.status === "ok" ? await run(settings.value, context, signal) : withoutSettings(command);
    },
  };
}

/** The verdict of a check whose settings are missing; the check `configuration` names them. */
export function withoutSettings(command: CommandName): Verdict[] {
  return [
    notChecked(
      "PREREQUISITE_FAILED",
      `the settings of ${command} that it needs are incomplete, see configuration`,
    ),
  ];
}

/** What is wrong with settings that a loader refused: a verdict for each, with what sets it right. */
export function problemsOf(error: OpsError, { file, env }: CommandEnvironment): Verdict[] {
  if (error.settings === undefined) return [fail(error.code, reasonOf(error), inWords(error.hint))];
  // What stands in that file seems to be missing: the check of the file says what is wrong with it.
  if (file.problem !== null)
    return [notChecked("PREREQUISITE_FAILED", `${file.path} was not read, see environment file`)];
  return error.settings.map((setting) => {
    const { name, problem, kind } = setting;
    // The check of the secrets says why, and what to do.
    if (kind === "unread") return notChecked("PREREQUISITE_FAILED", `${name} cannot be read, see secrets`);
    const isSecret = kind === "secret";
    const fix = isSecret
      ? secretFix(file.command, name, env)
      : inWords(`Set ${name} in ${setting.file ?? file.path}`);
    return fail("CONFIG_INVALID", `${name} ${problem}`, fix);
  });
}

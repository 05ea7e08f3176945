import { loadSettings, type Settings } from "../../../platform/config/load.ts";
import type { SettingName } from "../../../platform/config/settings-table.ts";
import { withWebhookSettings } from "../../../platform/config/webhook-settings.ts";
import { inWords, type OpsError } from "../../../platform/errors.ts";
import type { Environment } from "../../../platform/secrets/adapter.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import type { CommandEnvironment } from "../../facts/environment.ts";
import { closedWithFile, isForAnotherAccount } from "../../facts/reader.ts";
import { type CheckResult, type CommandName, fail, failure, notChecked, pass } from "../../finding.ts";
import { secretFix } from "./correct-setting.ts";

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
        return [await closedWithFile(settings.error.message, command, context)];
      return problemsOf(settings.error, await context.environment(command));
    },
  };
}

/** The settings that a check needs, as `loadSettings` takes them. */
export type Wanted<R extends SettingName, O extends SettingName> = {
  required?: readonly R[];
  optional?: readonly O[];
};

/** A check that needs these settings, whatever the other ones of its command are; without them it names them. */
export function checkWithSettings<const R extends SettingName = never, const O extends SettingName = never>(
  check: Pick<Check, "command" | "name" | "service">,
  wanted: Wanted<R, O>,
  run: (settings: Settings<R, O>, context: CheckContext, signal: AbortSignal) => Promise<CheckResult[]>,
): Check {
  const { command } = check;
  return {
    ...check,
    async run(context, signal) {
      const settings = await context.settings(command, JSON.stringify(wanted), (env) =>
        loadSettings(command, wanted, command === "socket-monitor" ? withWebhookSettings(command, env) : env),
      );
      if (settings.status === "ok") return await run(settings.value, context, signal);
      const { file } = await context.environment(command);
      return file.problem === null ? withoutSettings(settings.error) : notRead(file);
    },
  };
}

/** The result of a check whose settings are missing or wrong; the check `configuration` says how to set them. */
export function withoutSettings({ settings = [] }: OpsError): CheckResult[] {
  const names = settings.map(({ name }) => name).join(", ") || "settings that cannot be read";
  return [notChecked("PREREQUISITE_FAILED", `it needs ${names}, see configuration`)];
}

/** The result where what stands in an environment file only seems to be missing: its own check says what is wrong. */
export function notRead({ path }: { path: string }): CheckResult[] {
  return [notChecked("PREREQUISITE_FAILED", `${path} was not read, see environment file`)];
}

/** What is wrong with settings that a loader refused: a result for each, with what sets it right. */
export function problemsOf(error: OpsError, { file, env }: CommandEnvironment): CheckResult[] {
  if (error.settings === undefined) return [failure(error)];
  if (file.problem !== null) return notRead(file);
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

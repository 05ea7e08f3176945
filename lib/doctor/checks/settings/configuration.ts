import { loadSettings, type Settings } from "../../../platform/config/load.ts";
import type { SettingName } from "../../../platform/config/settings-table.ts";
import type { Environment } from "../../../platform/secrets/adapter.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext, FailedSettings } from "../../context/check-context.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { type CheckResult, type CommandName, fail, failure, notChecked, pass } from "../../finding.ts";
import { setSecret } from "./correct-setting.ts";

/** Whether the command's own loader accepts its settings: each problem is a finding. */
export function configurationCheck(
  command: CommandName,
  load: (env: Environment, dependencies: DoctorDependencies) => Promise<unknown>,
): Check {
  return {
    command,
    name: "configuration",
    async run(context) {
      const settings = await context.settings(command, load);
      if (settings.status === "ok") return [pass("every setting is there and valid")];
      const { error, reportedBy } = settings;
      if (reportedBy !== "configuration") return withoutSettings(settings);
      if (error.settings === undefined) return [failure(error)];
      const { env, file } = await context.environment(command);
      return error.settings.map(({ name, problem, kind, file: own }) => {
        if (kind === "unread")
          return notChecked("PREREQUISITE_FAILED", `${name} cannot be read, see secrets`);
        const fix = kind === "secret" ? setSecret(name, env) : `Set ${name} in ${own ?? file.path}`;
        return fail("CONFIG_INVALID", `${name} ${problem}`, fix);
      });
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
      const settings = await context.settings(command, (env) => loadSettings(command, wanted, env));
      return settings.status === "ok"
        ? await run(settings.value, context, signal)
        : withoutSettings(settings);
    },
  };
}

/** The result of a check whose settings are missing or wrong; another check says why. */
export function withoutSettings({ error, reportedBy }: FailedSettings): CheckResult[] {
  const names = error.settings?.map(({ name }) => name).join(", ") ?? "settings that cannot be read";
  return [notChecked("PREREQUISITE_FAILED", `it needs ${names}, see ${reportedBy}`)];
}

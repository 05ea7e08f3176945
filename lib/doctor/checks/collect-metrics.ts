import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../health/result.ts";
import { METRICS_FILE } from "../../host/metrics-file-name.ts";
import { findTextDirectory } from "../../host/text-directory.ts";
import type { MetricSource } from "../../metrics/source.ts";
import { SOURCES } from "../../metrics/sources.ts";
import type { SettingName } from "../../platform/config/settings-table.ts";
import { octal } from "../../platform/files/directory-fault.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import type { Check, CheckContext } from "../context.ts";
import { socketTableCheck } from "./host.ts";
import { checkWithSettings } from "./settings.ts";
import { statusCheck } from "./status.ts";

const of = "collect-metrics";

/** What the collector needs besides its settings: its directory, its file, and its sources. */
export const COLLECT_CHECKS: readonly Check[] = [
  {
    ...checkWithSettings(
      { command: of, name: "text-file directory" },
      { optional: ["TEXTFILE_DIR"] },
      async ({ TEXTFILE_DIR }) => {
        findTextDirectory(TEXTFILE_DIR);
        return [pass(`${TEXTFILE_DIR} is there`)];
      },
    ),
    runsAsRoot: true,
  },
  checkWithSettings(
    { command: of, name: "metrics file" },
    { optional: ["TEXTFILE_DIR"] },
    async ({ TEXTFILE_DIR }) => await modeResults(join(TEXTFILE_DIR, METRICS_FILE)),
  ),
  statusCheck(of),
  ...SOURCES.flatMap(({ settings, check }) => (check === undefined ? [] : [sourceCheck(settings, check)])),
  socketTableCheck(of),
];

/** Which account reads the file is not known here: it is one of the others. */
async function modeResults(path: string): Promise<CheckResult[]> {
  const found = await lstat(path).catch(({ code }: NodeJS.ErrnoException) => code);
  if (found === "EACCES") return [fail("METRICS_FILE_CLOSED", `${path} is closed to other accounts`, OPEN)];
  if (typeof found !== "object") return [];
  const reason = `${path} has mode ${octal(found.mode)}`;
  if ((found.mode & 0o004) !== 0) return [pass(reason)];
  return [fail("METRICS_FILE_CLOSED", `${reason}, closed to the monitoring agent`, OPEN)];
}

const OPEN = command(
  "opsctl collect-metrics",
  "Open its directory to others (chmod o+rx), and write it again:",
);

function sourceCheck(
  settings: readonly SettingName[],
  { name, service, runsAsRoot, secret, run }: NonNullable<MetricSource["check"]>,
): Check {
  const check = checkWithSettings(
    { command: of, name, service },
    { optional: settings },
    async (values, context, signal) => {
      const found = secret === undefined ? null : await secretOf(secret, context);
      if (found !== null && "status" in found) return [found];
      const { callLimitMs } = context.dependencies;
      const health = await run(values, { signal, callLimitMs, secret: found });
      if (health.status === "pass") return [pass(health.reason)];
      return [(health.status === "warn" ? warn : fail)(health.code, health.reason, health.fix)];
    },
  );
  return runsAsRoot === undefined ? check : { ...check, runsAsRoot };
}

async function secretOf(name: SettingName, context: CheckContext): Promise<Secret | CheckResult> {
  const search = (await context.secrets(of)).find((one) => one.name === name);
  if (search?.error) return notChecked("PREREQUISITE_FAILED", `${name} cannot be read, see secrets`);
  return search?.found?.secret ?? notChecked("PREREQUISITE_FAILED", `it needs ${name}, see configuration`);
}

import { isAbsolute } from "node:path";
import { fail, type Health, needsDoctor } from "../health/result.ts";
import { PARTS, type PartName } from "../host/set-up.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { StatusDependencies } from "./dependencies.ts";
import { type NamedReport, onlyHealth, type PartReport, reportOf } from "./part.ts";
import { READ } from "./parts.ts";

const ENV_DIR_INVALID = fail("CONFIG_INVALID", "OPSCTL_ENV_DIR is no absolute path", {
  text: "Set it to an absolute path, or:",
  command: "unset OPSCTL_ENV_DIR",
});

/**
 * Looks at all parts of this host at the same time, each within its own limit.
 *
 * Errors: none thrown; a part that throws needs a person.
 */
export async function readStatus(dependencies: StatusDependencies): Promise<NamedReport[]> {
  return await Promise.all(
    PARTS.map(async (part) => reportOf(part, await healthOf(part, dependencies), dependencies.env)),
  );
}

async function healthOf(part: PartName, dependencies: StatusDependencies): Promise<Health> {
  try {
    if (isEnvDirInvalid(dependencies.env)) return onlyHealth(ENV_DIR_INVALID);
    return await READ[part](dependencies);
  } catch (error) {
    // The message of the engine or a library may quote data.
    const { name, code } = Object(error) as { name?: string; code?: unknown };
    const cause = typeof code === "string" ? code : (name ?? "unknown error");
    return onlyHealth(needsDoctor(fail("CHECK_FAILED", `the check ended with an error: ${cause}`)));
  }
}

/** Every command refuses it, and doctor as root would look elsewhere: sudo passes on no variable. */
function isEnvDirInvalid({ OPSCTL_ENV_DIR: directory = "" }: Environment): boolean {
  return directory.trim() !== "" && !isAbsolute(directory);
}

const WELL: readonly PartReport["status"][] = ["ok", "outdated", "not_set_up"];

/** Whether all is well with what is set up, as far as it was seen. */
export function isAllWell(reports: readonly NamedReport[]): boolean {
  return reports.every(({ status }) => WELL.includes(status));
}

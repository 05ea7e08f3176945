import { join, relative } from "node:path";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { unitProperties } from "../../facts/unit-properties.ts";
import { command, fail, type Verdict } from "../../finding.ts";

const UNIT = "opsctl-webhook.service";
const NAMES = ["ProtectSystem", "ReadWritePaths", "StateDirectory"] as const;
const STATE_ROOT = "/var/lib";

/**
 * A failure when systemd lets the service write nowhere in this directory, whatever its owner and mode are.
 *
 * Behaviour: nothing where the unit closes nothing, or systemd does not say.
 * Source:    systemd.exec(5), ProtectSystem=strict, ReadWritePaths= (each path may begin with - and +),
 *            StateDirectory=.
 */
export async function closedByUnitVerdicts(
  dependencies: DoctorDependencies,
  directory: string,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const shown = await unitProperties(dependencies, { unit: UNIT, names: NAMES, signal });
  if (shown.ProtectSystem !== "strict") return [];
  const open = [
    ...wordsOf(shown.ReadWritePaths).map((path) => path.replace(/^[-+]+/, "")),
    ...wordsOf(shown.StateDirectory).map((name) => join(STATE_ROOT, name)),
  ];
  if (open.some((path) => isWithin(directory, path))) return [];
  return [
    fail(
      "STATE_DIRECTORY_READ_ONLY",
      `${directory}: the unit lets the service write nowhere but in ${open.join(" and ")}`,
      command(
        "systemctl edit opsctl-webhook.service && systemctl restart opsctl-webhook.service",
        "Write ReadWritePaths= with that directory below [Service]:",
      ),
    ),
  ];
}

function wordsOf(value: string): string[] {
  return value.split(" ").filter((word) => word !== "");
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || !/^(?:\.\.(?:\/|$)|\/)/.test(relative(directory, path));
}

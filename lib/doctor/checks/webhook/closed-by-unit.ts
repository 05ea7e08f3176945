import { join, relative } from "node:path";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { fail, type Verdict } from "../../finding.ts";

const UNIT = "opsctl-webhook.service";
const PROPERTIES = ["ProtectSystem", "ReadWritePaths", "StateDirectory"];
const STATE_ROOT = "/var/lib";

/**
 * A failure when systemd lets the service write nowhere in this directory, whatever its owner and mode are.
 *
 * Behaviour: nothing where the unit closes nothing, or systemd does not say.
 * Source:    systemd.exec(5), ProtectSystem=strict, ReadWritePaths= (each path may begin with - and +),
 *            StateDirectory=.
 */
export async function closedByUnitVerdicts(
  { runProgram }: DoctorDependencies,
  directory: string,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const words = ["show", UNIT, `--property=${PROPERTIES.join(",")}`];
  const shown = (await runProgram("systemctl", words, signal))?.stdout ?? "";
  const [protects, opened, kept] = PROPERTIES.map((name) => wordsOf(name, shown)) as [
    string[],
    string[],
    string[],
  ];
  if (protects[0] !== "strict") return [];
  const open = [
    ...opened.map((path) => path.replace(/^[-+]+/, "")),
    ...kept.map((name) => join(STATE_ROOT, name)),
  ];
  if (open.some((path) => isWithin(directory, path))) return [];
  return [
    fail(
      `${directory}: the unit lets the service write nowhere but in ${open.join(" and ")}`,
      `systemctl edit ${UNIT}: below [Service] write ReadWritePaths=${directory}, then systemctl restart ${UNIT}`,
    ),
  ];
}

function wordsOf(name: string, shown: string): string[] {
  const value = new RegExp(`^${name}=(.*)$`, "m").exec(shown)?.[1] ?? "";
  return value.split(" ").filter((word) => word !== "");
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || !/^(?:\.\.(?:\/|$)|\/)/.test(relative(directory, path));
}

import { readFileSync } from "node:fs";

/**
 * How many descriptors this process may have open; null where the system does not say.
 *
 * Source: proc_pid_limits(5): the soft limit of the line `Max open files`.
 */
export function descriptorLimit(path = "/proc/self/limits"): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(path, "utf8"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

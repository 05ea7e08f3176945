import { textOrEmpty } from "../text-or-empty.ts";

/**
 * How many descriptors this process may have open; null where the system does not say.
 *
 * Source: proc_pid_limits(5): the soft limit of the line `Max open files`.
 */
export function descriptorLimit(path = "/proc/self/limits"): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(textOrEmpty(path))?.[1];
  return soft === undefined ? null : Number(soft);
}

import { readFileSync } from "node:fs";

/**
 * Capabilities with which a process can do next to nothing, with the kernel's numbers for them. Hosts have the first one;
 * containers of Docker and of systemd-nspawn only the second.
 */
const HARMLESS = [
  ["block_suspend", 36],
  ["audit_write", 29],
] as const;

/**
 * The capability that a process which is root can pass on to keep other processes out of its child; null where it has
 * none to pass on.
 *
 * Behaviour: the kernel lets a process read the memory of another, its environment and what it has open only if it has
 *            every capability of the other. Two processes of one account can both, unless one of them was given a capability.
 * Source:    capabilities(7), ptrace(2) "Ptrace access mode checking"; numbers of linux/capability.h.
 */
export function guardCapability(status: string = readStatus()): string | null {
  const [permitted, bounding] = [capabilitySet(status, "CapPrm"), capabilitySet(status, "CapBnd")];
  const [name = null] =
    HARMLESS.find(([, number]) => ((permitted & bounding) >> BigInt(number)) % 2n === 1n) ?? [];
  return name;
}

/** Whether a process with this status has a capability. */
export function hasCapability(status: string = readStatus()): boolean {
  return capabilitySet(status, "CapPrm") !== 0n;
}

function capabilitySet(status: string, name: "CapPrm" | "CapBnd"): bigint {
  const digits = new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1];
  return digits === undefined ? 0n : BigInt(`0x${digits}`);
}

/** What the kernel says of this process; nothing where it has no /proc. */
function readStatus(): string {
  try {
    return readFileSync("/proc/self/status", "utf8");
  } catch {
    return "";
  }
}

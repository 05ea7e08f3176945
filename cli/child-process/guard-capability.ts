import { hasBit, processStatus, statusSet } from "../../lib/platform/process-status.ts";

/**
 * Capabilities with which a process can do next to nothing, with the kernel's numbers for them. Hosts have the first
 * one; containers of Docker and of systemd-nspawn only the second.
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
 *            every capability of the other. Two processes of one account can both, unless one of them was given a
 *            capability.
 * Source:    capabilities(7), ptrace(2) "Ptrace access mode checking"; numbers of linux/capability.h.
 */
export function guardCapability(status: string = processStatus()): string | null {
  const both = statusSet(status, "CapPrm") & statusSet(status, "CapBnd");
  const [name = null] = HARMLESS.find(([, number]) => hasBit(both, number)) ?? [];
  return name;
}

/** Whether a process with this status has a capability. */
export function hasCapability(status: string = processStatus()): boolean {
  return statusSet(status, "CapPrm") !== 0n;
}

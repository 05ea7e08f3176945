import { textOrEmpty } from "./text-or-empty.ts";

/** What the kernel says of this process; nothing where it has no /proc. */
export function processStatus(): string {
  return textOrEmpty("/proc/self/status");
}

/**
 * The numbers in a set of a process's status, such as its capabilities (CapEff) or the signals it ignores (SigIgn).
 *
 * Behaviour: bit 0 is number 0; empty where the status does not have the set.
 * Source:    proc(5), /proc/pid/status.
 */
export function statusSet(status: string, name: string): bigint {
  const digits = new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1];
  return digits === undefined ? 0n : BigInt(`0x${digits}`);
}

/** Whether such a set has a bit. */
export function hasBit(set: bigint, bit: number): boolean {
  return (set >> BigInt(bit)) % 2n === 1n;
}

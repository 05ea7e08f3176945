import type { DoctorDependencies } from "../context/dependencies.ts";

/**
 * What systemd says of a unit, property by property; the empty text for one that it does not say.
 *
 * Source: systemctl(1), show.
 */
export async function unitProperties<const N extends string>(
  { runProgram }: Pick<DoctorDependencies, "runProgram">,
  { unit, names, signal }: { unit: string; names: readonly N[]; signal: AbortSignal },
): Promise<Record<N, string>> {
  const words = ["show", unit, `--property=${names.join(",")}`];
  const shown = (await runProgram("systemctl", words, signal))?.stdout ?? "";
  const read = (name: N) => new RegExp(`^${name}=(.*)$`, "m").exec(shown)?.[1] ?? "";
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<N, string>;
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { until } from "../../support/until.ts";

/** A control group in every hierarchy of this host; a process joins it by writing its id to each of `joins`. */
export type ControlGroup = { joins: string[]; remove(): Promise<void> };

/**
 * Makes a control group in which memory is counted, for version 1 and version 2 and for hosts that have both.
 *
 * Shape: the group, or why there is none, as a sentence for people.
 */
export function makeControlGroup(name: string): ControlGroup | { missing: string } {
  const folders = hierarchies().map((hierarchy) => join(hierarchy, name));
  const group = {
    joins: folders.map((folder) => join(folder, "cgroup.procs")),
    remove: () => remove(folders),
  };
  try {
    for (const folder of folders) makeFolder(folder);
  } catch (error) {
    for (const folder of folders) removeTree(folder);
    const { code } = error as NodeJS.ErrnoException;
    return { missing: `no control group can be made here: ${code}` };
  }
  if (folders.some(countsMemory)) return group;
  for (const folder of folders) removeTree(folder);
  return { missing: "the control groups here count no memory" };
}

function hierarchies(): string[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").trim().split("\n");
  return mounts
    .map((line) => line.split(" "))
    .filter(([, , type]) => type === "cgroup" || type === "cgroup2")
    .map(([, place]) => place!);
}

function makeFolder(folder: string): void {
  const above = dirname(folder);
  const offered = join(above, "cgroup.controllers");
  // Version 2 hands a controller down only when it is told to.
  if (existsSync(offered) && readFileSync(offered, "utf8").includes("memory"))
    writeFileSync(join(above, "cgroup.subtree_control"), "+memory +pids");
  mkdirSync(folder);
  // A version 1 group of processors is of no use before it has some.
  for (const file of ["cpuset.cpus", "cpuset.mems"])
    if (existsSync(join(above, file))) writeFileSync(join(folder, file), readFileSync(join(above, file)));
}

function countsMemory(folder: string): boolean {
  return ["memory.current", "memory.usage_in_bytes"].some((file) => existsSync(join(folder, file)));
}

/** Once the last of its processes is gone, which the kernel may take a moment for. */
async function remove(folders: string[]): Promise<void> {
  await until(`the control groups ${basename(folders[0]!)} to be empty`, () => folders.every(removeTree));
}

function removeTree(folder: string): boolean {
  if (!existsSync(folder)) return true;
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of below) removeTree(join(folder, name));
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

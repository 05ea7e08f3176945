import type { Group } from "../../cli/framework/command.ts";
import { commandPage, groupPage, type ManPage } from "./man-page.ts";

/** The man pages of opsctl and of every command, in the order of the tree; `date` is `YYYY-MM-DD`. */
export async function allPages(path: string, group: Group, date: string): Promise<ManPage[]> {
  const below = Object.entries(group.commands).map(async ([name, entry]) => {
    const own = `${path} ${name}`;
    if (!("load" in entry)) return await allPages(own, entry, date);
    return [commandPage(own, entry.description, await entry.load(), date)];
  });
  return [groupPage(path, group, date), ...(await Promise.all(below)).flat()];
}

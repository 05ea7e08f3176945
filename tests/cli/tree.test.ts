/** What holds for every command of the tree. */
import { describe, expect, test } from "bun:test";
import type { Group } from "../../cli/framework/command.ts";
import { renderCommandHelp, renderGroupHelp } from "../../cli/framework/usage/help.ts";
import { root } from "../../cli/root.ts";
import { commandFile } from "../../lib/platform/config/env-files/command-file.ts";
import { eachCommand } from "./support/each-command.ts";

const commands = await eachCommand();
const ABOUT = ["help", "version", "completion", "explain"];

describe("every command", () => {
  test("has a help that fits in 80 columns, its example included", () => {
    const texts = [
      ...commands.map(({ words, command }) => renderCommandHelp(`opsctl ${words.join(" ")}`, command)),
      ...groups("opsctl", root),
    ];
    expect(texts.length).toBeGreaterThan(35);
    expect(texts.flatMap((text) => text.split("\n")).filter((line) => [...line].length > 80)).toEqual([]);
  });

  test("lets choose the form of its log, but for those that write none", () => {
    const without = commands.filter(({ command }) => !Object.hasOwn(command.args, "log-format"));
    expect(without.map(({ words }) => words.join(" ")).sort()).toEqual([...ABOUT].sort());
  });

  test("writes its log as text unless cron or systemd starts it", () => {
    const unattended = commands.filter(({ command }) => command.isUnattended);
    expect(unattended.map(({ words }) => words.join(" "))).toEqual([
      "weekly",
      "webhook serve",
      "collect-metrics",
      "socket-monitor",
    ]);
  });

  test("that tells of opsctl itself belongs to no account and has no settings file", () => {
    const about = commands.filter(({ command }) => command.about !== undefined);
    expect(about.map(({ words }) => words.join(" ")).sort()).toEqual([...ABOUT].sort());
    for (const { words, command } of about)
      expect([command.account, commandFile(words.join(" "))]).toEqual([undefined, null]);
  });
});

function groups(path: string, group: Group): string[] {
  const below = Object.entries(group.commands).flatMap(([name, entry]) =>
    "load" in entry ? [] : groups(`${path} ${name}`, entry),
  );
  return [renderGroupHelp(path, group), ...below];
}

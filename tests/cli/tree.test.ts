/** What holds for every command of the tree. */
import { describe, expect, test } from "bun:test";
import { eachCommand } from "./support/each-command.ts";

const commands = await eachCommand();
const STATIC = ["help", "version", "completion", "explain"];

describe("every command", () => {
  test("lets choose the form of its log, but for those that write none", () => {
    const without = commands.filter(({ command }) => !Object.hasOwn(command.args, "log-format"));
    expect(without.map(({ words }) => words.join(" ")).sort()).toEqual([...STATIC].sort());
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

  test("a static command belongs to no account", () => {
    const isStatic = commands.filter(({ command }) => command.answer !== undefined);
    expect(isStatic.map(({ words }) => words.join(" ")).sort()).toEqual([...STATIC].sort());
    expect(isStatic.filter(({ command }) => command.account !== undefined)).toEqual([]);
  });
});

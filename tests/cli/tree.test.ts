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

  test("reads settings and account, but for the static ones, and stays root only where root is needed", () => {
    const isStatic = commands.filter(({ command }) => command.answer !== undefined);
    expect(isStatic.map(({ words }) => words.join(" ")).sort()).toEqual([...STATIC].sort());
    const ofRoot = commands.filter(({ command }) => command.staysRoot);
    expect(ofRoot.map(({ words }) => words.join(" "))).toEqual([
      "collect-metrics",
      "secret set",
      "secret list",
      "doctor",
    ]);
  });
});

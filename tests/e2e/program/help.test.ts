import { describe, expect, test } from "bun:test";
import manifest from "../../../package.json" with { type: "json" };
import { eachCommand } from "../../cli/support/each-command.ts";
import { opsctl } from "../support/opsctl.ts";

const COMMANDS = (await eachCommand()).map(({ words }) => words);
const GROUPS = COMMANDS.flatMap((words) => words.slice(0, -1).map((_word, at) => words.slice(0, at + 1)));
/** No secrets: a command whose words are accepted ends at its settings. */
const BARE = { OPSCTL_SECRETS_DIR: "/nonexistent" };
const HELPS = [
  ...[
    [],
    ["--help"],
    ["weekly", "--dry-run", "-h"],
    ["help", "reports", "show"],
    ["help", "webhook", "dead"],
  ],
  ...new Map(GROUPS.map((words) => [words.join(" "), words])).values(),
  ...COMMANDS.map((words) => [...words, "--help"]),
];

describe.concurrent("help", () => {
  test.each(HELPS.map((args) => [args.join(" "), args] as const))(
    "the help of `opsctl %s` fits 80 columns, has no colour and needs no configuration",
    async (_name, args) => {
      const forced = { FORCE_COLOR: "3", CLICOLOR_FORCE: "1", TERM: "xterm-256color" };
      const { exitCode, stdout, stderr } = await opsctl([...args], { env: forced });

      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toContain("Usage: opsctl");
      expect(stdout).not.toContain("\u001b");
      if (args.at(-1) === "--help" && args.length > 1) expect(stdout).toContain("Example:\n  opsctl ");
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      const parts = stdout.split("\n\n");
      const notes = parts.slice(
        1,
        parts.findIndex((part) => part.startsWith("Usage:")),
      );
      // A line that goes on is indented: one that begins at the margin begins a sentence.
      const paragraphs = notes.flatMap((part) => part.split(/\n(?! )/));
      expect(paragraphs.filter((paragraph) => !paragraph.endsWith("."))).toEqual([]);
    },
  );

  test.each([
    ["50", 50],
    ["39", 40],
    ["240", 100],
    ["wide", 80],
  ])("takes the width of COLUMNS=%s, up to 100", async (COLUMNS, width) => {
    const { stdout } = await opsctl(["webhook", "serve", "--help"], { env: { COLUMNS } });
    // An option with its value is copied as it is, and never broken.
    const lines = stdout.split("\n").filter((line) => !/^ +\[?--\S+(?: <[^>]+>)?\]?$/.test(line));
    const widest = Math.max(...lines.slice(0, lines.indexOf("Example:")).map((line) => line.length));
    expect(widest).toBeLessThanOrEqual(width);
    expect(widest).toBeGreaterThan(width - 12);
  });

  test.each([["weekly"], ["migrate"], ["deliveries list"], ["deliveries show"], ["deliveries reconcile"]])(
    "the help of `opsctl %s` has an example that the command itself accepts",
    async (command) => {
      const { stdout } = await opsctl([...command.split(" "), "--help"]);
      const example = /Example:\n {2}opsctl ((?:.+\\\n)*.+)/.exec(stdout)?.[1]?.replace(/\\\n\s+/g, "");
      expect(example).toStartWith(command);
      const quoted = example?.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, ""));
      const { exitCode } = await opsctl(quoted as string[], { env: BARE });
      expect(exitCode).toBe(3);
    },
  );

  test("is shown wherever --help stands before two dashes, and nothing else happens", async () => {
    const asked = await opsctl(["weekly", "--tenant", "x", "--bogus", "--help"], { env: BARE });
    expect(asked.exitCode).toBe(0);
    expect(asked.stdout).toContain("Usage: opsctl weekly");
    expect((await opsctl(["weekly", "--", "--help"])).exitCode).toBe(2);
  });

  test("names every option of the weekly run", async () => {
    const { stdout } = await opsctl(["weekly", "--help"]);
    const options = [
      "--dry-run",
      "--tenant",
      "--json",
      "--skip-whatsapp",
      "--skip-email",
      "--skip-editorials",
      "--without-social",
      "--patience",
    ];
    for (const option of options) expect(stdout).toContain(option);
  });
});

describe.concurrent("opsctl --version", () => {
  test("is one line with version and commit", async () => {
    const { exitCode, stdout, stderr } = await opsctl(["--version"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^opsctl \d+\.\d+\.\d+ \([0-9a-f]{7,40}(\+changes)?\)\n$/);
  });

  test("is the line of `opsctl version`, which has the same as JSON", async () => {
    const [flag, word, asJson] = await Promise.all(
      [["--version"], ["version"], ["version", "--json"]].map((args) => opsctl(args)),
    );
    expect(word!.stdout).toBe(flag!.stdout);
    const { version, commit } = asJson!.json;
    expect(`opsctl ${version} (${commit})\n`).toBe(flag!.stdout);
  });

  test("is that of the package, and of the summary", async () => {
    const { stdout } = await opsctl(["--version"]);
    expect(stdout.split(" ")[1]).toBe(manifest.version);
    expect((await opsctl(["weekly", "--json"])).json.version).toBe(manifest.version);
  });
});

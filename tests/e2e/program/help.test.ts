import { describe, expect, test } from "bun:test";
import { ENGINES, opsctl, RUNTIMES } from "../support/opsctl.ts";

const HELPS = [
  [],
  ["--help"],
  ["weekly", "--help"],
  ["weekly", "--dry-run", "-h"],
  ["migrate", "--help"],
  ["reports"],
  ["reports", "status", "--help"],
  ["reports", "list", "--help"],
  ["reports", "show", "--help"],
  ["reports", "preview", "--help"],
  ["reports", "prune", "--help"],
  ["deliveries"],
  ["deliveries", "list", "--help"],
  ["deliveries", "show", "--help"],
  ["deliveries", "look-up", "--help"],
  ["deliveries", "reconcile", "--help"],
  ["deliveries", "repair", "--help"],
  ["collect-metrics", "--help"],
  ["socket-monitor", "--help"],
  ["secret"],
  ["secret", "set", "--help"],
  ["secret", "list", "--help"],
  ["status", "--help"],
  ["doctor", "--help"],
  ["webhook"],
  ["webhook", "serve", "--help"],
  ["alert-rules"],
  ["alert-rules", "export", "--help"],
  ["alert-rules", "plan", "--help"],
  ["alert-rules", "apply", "--help"],
  ["alert-rules", "contact-point", "apply", "--help"],
  ["alert-rules", "dashboard", "--help"],
  ["help", "reports", "show"],
  ["help", "webhook", "dead"],
  ["help", "help"],
  ["explain", "--help"],
  ["version", "--help"],
  ["completion", "--help"],
];

/** One of each kind is asked for on Deno, too: the texts are made of the same tree. */
const ON_EACH_ENGINE = [
  "",
  "weekly --help",
  "reports",
  "alert-rules contact-point apply --help",
  "help webhook dead",
];

describe.concurrent("help", () => {
  test.each(HELPS.map((args) => [args.join(" "), args] as const))(
    "of `opsctl %s` fits 80 columns and needs no configuration",
    async (name, args) => {
      const engines = ON_EACH_ENGINE.includes(name) ? ENGINES : (["binary"] as const);
      const ends = await Promise.all(engines.map((runtime) => opsctl([...args], { runtime })));

      expect(ends.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
        engines.map(() => ({ exitCode: 0, stderr: "" })),
      );
      const texts = ends.map(({ stdout }) => stdout);
      expect(texts[0]).toContain(`Usage: opsctl`);
      if (args.at(-1) === "--help" && args.length > 1) expect(texts[0]).toContain("Example:\n  opsctl ");
      expect(new Set(texts).size).toBe(1);
      expect(texts[0]!.split("\n").filter((line) => line.length > 80)).toEqual([]);
      const parts = texts[0]!.split("\n\n");
      const notes = parts.slice(
        1,
        parts.findIndex((part) => part.startsWith("Usage:")),
      );
      // A line that goes on is indented: one that begins at the margin begins a sentence.
      const paragraphs = notes.flatMap((part) => part.split(/\n(?! )/));
      expect(paragraphs.filter((paragraph) => !paragraph.endsWith("."))).toEqual([]);
    },
  );

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

  test("has the same version on every runtime, and in the summary", async () => {
    const ends = await Promise.all(RUNTIMES.map((runtime) => opsctl(["--version"], { runtime })));
    const versions = ends.map(({ stdout }) => stdout.split(" ")[1]!);
    expect(new Set(versions).size).toBe(1);
    const { json } = await opsctl(["weekly", "--json"]);
    expect(json.version).toBe(versions[0]!);
  });
});

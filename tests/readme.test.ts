/** The documents name what the program has, and show nothing that it has not: codes, variables, links and commands. */

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { Command } from "../cli/framework/command.ts";
import { root } from "../cli/root.ts";
import { SOURCES } from "../lib/metrics/sources.ts";
import {
  anchorsOf,
  type Block,
  commandsIn,
  inlineCode,
  linksOf,
  PAGES,
  type Page,
  page,
  pageOf,
  ROOT,
} from "./support/documents.ts";

/** The text of every source below these folders, without comments. */
function sourcesIn(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|sql)$/.test(name) && !IN_REPORTS.test(`${folder}/${name}`))
      .map((name) =>
        readFileSync(join(ROOT, folder, name), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ""),
      ),
  );
}

/** What a report calls a code is a word of its own text, which the owner reads and no operator. */
const IN_REPORTS = /^lib\/weekly\/report\/(activation-actions|email-insights)\.ts$/;
/** Caught on their way: they become DATABASE_TIMEOUT, DATABASE_LOST and, of a damaged file, STATE_UNAVAILABLE. */
const NEVER_SHOWN = ["STATEMENT_TIMEOUT", "CONNECTION_ENDED", "ERR_SQLITE_ERROR"];

const program = sourcesIn("cli", "lib");

/** Every first group of `pattern` in the program, once each. */
function found(pattern: RegExp): string[] {
  return [...new Set(program.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!)))];
}

/** What none of these pages has as code: whole words between backticks, a list of them or with a value. */
function missing(names: string[], ...paths: string[]): string[] {
  const words = new Set(
    paths.flatMap((path) => inlineCode(page(path)).flatMap((code) => code.match(/\w+/g) ?? [])),
  );
  return names.filter((name) => !words.has(name));
}

describe("docs/codes.md", () => {
  test("explains every code that ends a command, that a finding has, or that is kept on a record", () => {
    const codes = [
      ...found(/\b(?:code|errorCode|error_code|reason)"?\s*(?:[:=]|===)\s*"([a-z\d]+(?:_[a-z\d]+)+)"/g),
      ...found(/\bcode: "([A-Z]+(?:_[A-Z]+)+)"/g),
      ...found(/^ {2}([A-Z]+(?:_[A-Z]+)+): EXIT\./gm),
      // Those of doctor's findings, and what can be behind a missing instance.
      ...found(/(?<![.\w])(?:warn|fail|notChecked|\(\w+ \? warn : fail\))\(\s*"([A-Z]+(?:_[A-Z]+)+)"/g),
      ...found(/^ {2}((?:sender_)?instance_\w+): \(/gm),
      // Those with which the webhook refuses a request.
      ...found(/^ {2}([a-z]+(?:_[a-z]+)+): \[\d{3},/gm),
    ].filter((code) => !NEVER_SHOWN.includes(code));
    expect(codes.length).toBeGreaterThan(120);
    // The answers of the webhook stand on its own page.
    expect(missing(codes, "docs/codes.md", "docs/webhook.md")).toEqual([]);
  });

  test("explains no code that the program does not know", () => {
    const cells = page("docs/codes.md")
      .prose.split("\n")
      .filter((line) => line.startsWith("| `"));
    const codes = cells.flatMap((line) =>
      [...line.split("|")[1]!.matchAll(/`(\w+)`/g)].map(([, code]) => code!),
    );
    expect(codes.length).toBeGreaterThan(250);
    const text = [...program, ...sourcesIn("sql")].join("\n").toLowerCase();
    const words = new Set(text.match(/\w+/g));
    // A client puts its name before a code, as a source of the collector does, and a number behind it.
    const isNamed = (code: string) =>
      words.has(code.replace(/^[^_]+_/, "")) ||
      SOURCES.some(({ name }) => code.startsWith(`${name}_`) && words.has(code.slice(name.length + 1)));
    const isKnown = (code: string) => /\d$/.test(code) || words.has(code) || isNamed(code);
    expect(codes.filter((code) => !isKnown(code.toLowerCase()))).toEqual([]);
  });
});

test("docs/configuration.md explains every variable", () => {
  const others = found(/\benv\.(OPSCTL_[A-Z_]+)/g);
  expect(others.length).toBeGreaterThan(3);
  expect(missing(others, "docs/configuration.md")).toEqual([]);
});

describe("links", () => {
  test.each(PAGES.map((each) => [each.path, each] as const))("of %s lead somewhere", (_path, from) => {
    expect(linksOf(from).filter((target) => !leadsSomewhere(from, target))).toEqual([]);
  });

  test("of the README lead to every page of docs/", () => {
    const linked = new Set(linksOf(page("README.md")).map((target) => target.split("#")[0]!));
    const pages = PAGES.map(({ path }) => path).filter((path) => path.startsWith("docs/"));
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.filter((path) => !linked.has(path))).toEqual([]);
  });

  test("that lead nowhere are found by this test", () => {
    const from = pageOf(
      "docs/codes.md",
      "# A & `b` c\n[1](#a--b-c) [2](#d) [3](doctor.md#none) [4](../gone.md)",
    );
    expect(linksOf(from).filter((target) => !leadsSomewhere(from, target))).toEqual([
      "#d",
      "doctor.md#none",
      "../gone.md",
    ]);
  });
});

function leadsSomewhere(from: Page, target: string): boolean {
  if (/^https?:\/\//.test(target)) return true;
  const [file, anchor] = target.split("#");
  const path = file === "" ? from.path : normalize(join(dirname(from.path), file!));
  if (!existsSync(join(ROOT, path))) return false;
  if (anchor === undefined) return true;
  return anchorsOf(path === from.path ? from : page(path)).has(anchor);
}

/** A command of a document. */
type Shown = { path: string; line: string; words: string[] };

/** Blocks that hold what was printed. */
const OUTPUT = new Set(["text", "console", "mermaid"]);

const shown: Shown[] = PAGES.filter(({ path }) => path !== "CHANGELOG.md").flatMap((each) => [
  ...each.blocks.flatMap((block) => typedIn(block).flatMap((line) => shownIn(each.path, line))),
  ...inlineCode(each).flatMap((line) => shownIn(each.path, line)),
]);

/** The lines of a block that are typed; among the output of commands those behind a prompt. */
function typedIn({ language, lines }: Block): string[] {
  return OUTPUT.has(language) ? lines.filter((line) => line.startsWith("$ ")) : lines;
}

function shownIn(path: string, line: string): Shown[] {
  return commandsIn(line).map((words) => ({ path, line, words }));
}

const ofOpsctl = shown.filter(({ words: [program = ""] }) => /^(?:\S+\/)?opsctl$/.test(program));

describe("a command that a document shows", () => {
  test("is found by this test, however it is started", () => {
    expect(commandsIn("$ sudo opsctl doctor weekly   # one")).toEqual([["opsctl", "doctor", "weekly"]]);
    expect(commandsIn("A='b c' opsctl migrate && dist/opsctl doctor")).toEqual([
      ["opsctl", "migrate"],
      ["dist/opsctl", "doctor"],
    ]);
    expect(
      commandsIn("runuser -u opsctl -- sh -c 'set -a; . ./x.env; exec opsctl weekly --json'"),
    ).toContainEqual(["opsctl", "weekly", "--json"]);
    expect(ofOpsctl.length).toBeGreaterThan(60);
  });

  test("is one of opsctl's, with options that it has", async () => {
    const problems = await Promise.all(
      ofOpsctl.map(async ({ path, line, words }) => {
        const problem = await problemOf(words.slice(1));
        return problem === undefined ? [] : [`${path}: ${line}: ${problem}`];
      }),
    );
    expect(problems.flat()).toEqual([]);
    expect(await problemOf(["weakly"])).toBe("there is no command weakly");
    expect(await problemOf(["weekly", "--dryrun"])).toBe("there is no option --dryrun");
  });

  test("is a target of the Makefile behind `make`", () => {
    const makefile = readFileSync(join(ROOT, "Makefile"), "utf8");
    const targets = new Set([...makefile.matchAll(/^([a-z-]+):/gm)].map(([, name]) => name));
    const made = shown.filter(({ words }) => words[0] === "make");
    expect(made.length).toBeGreaterThan(20);
    const unknown = made.flatMap(({ path, words }) =>
      words.slice(1).flatMap((word) => (word.includes("=") || targets.has(word) ? [] : [`${path}: ${word}`])),
    );
    expect(unknown).toEqual([]);
  });
});

/** What is wrong with the words of a command, or undefined. */
async function problemOf(words: readonly string[]): Promise<string | undefined> {
  let group: typeof root = root;
  for (const [at, word] of words.entries()) {
    // What stands for anything ends what can be judged.
    if (word === "--help" || word === "--version" || /^(?:<[^>]+>|…)$/.test(word)) return undefined;
    const next = Object.hasOwn(group.commands, word) ? group.commands[word]! : undefined;
    if (next === undefined) return `there is no command ${word}`;
    if ("load" in next) return optionProblem(words.slice(at + 1), await next.load());
    group = next;
  }
  return undefined;
}

function optionProblem(words: readonly string[], { args }: Command): string | undefined {
  const options = words.flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? []);
  const unknown = options.find((option) => option !== "help" && !Object.hasOwn(args, option));
  return unknown === undefined ? undefined : `there is no option --${unknown}`;
}

describe("a command that needs no host", () => {
  const needsNothing = ({ words }: Shown) =>
    /^(?:.* )?(?:--help|--version)$|^alert-rules export( --[a-z-]+)*$/.test(words.slice(1).join(" "));
  const lines = [...new Set(ofOpsctl.filter(needsNothing).map(({ words }) => words.slice(1).join(" ")))];

  test.each(lines.filter((line) => !line.includes("<")))("does what is shown: opsctl %s", (line) => {
    const { exitCode, stdout } = run(line);
    expect([exitCode, stdout.length > 0]).toEqual([0, true]);
  });

  const consoles = PAGES.flatMap(({ path, blocks }) =>
    blocks.filter(({ language }) => language === "console").map(({ lines }) => ({ path, lines })),
  );

  test("prints what is shown behind it", () => {
    expect(consoles.length).toBeGreaterThan(0);
    for (const { lines } of consoles) {
      const [command, ...output] = lines;
      const { stdout } = run(command!.replace(/^\$ opsctl /, ""));
      expect(stdout.trimEnd().split("\n")).toEqual(output);
    }
  });
});

function run(line: string): { exitCode: number | null; stdout: string } {
  const { exitCode, stdout } = Bun.spawnSync(
    [process.execPath, join(ROOT, "cli/main.ts"), ...line.split(" ")],
    { env: { PATH: process.env.PATH ?? "" }, cwd: "/" },
  );
  return { exitCode, stdout: stdout.toString() };
}

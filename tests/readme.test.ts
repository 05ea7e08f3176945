/** The documents name what the program has, and show nothing that it has not: codes, variables, links and commands. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { strictArguments } from "../cli/framework/usage/arguments.ts";
import { root } from "../cli/root.ts";
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

/** Caught on their way: they become DATABASE_TIMEOUT and, as the driver's code of the same name, DATABASE_LOST. */
const NEVER_SHOWN = new Set(["STATEMENT_TIMEOUT", "CONNECTION_ENDED"]);

const sources = ["cli", "lib"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({
      path: `${folder}/${name}`,
      text: readFileSync(join(ROOT, folder, name), "utf8"),
    })),
);

/** Every first group of `pattern` in the sources, once each. */
function found(pattern: RegExp): string[] {
  return [...new Set(sources.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name]) => name!)))];
}

/** What a page does not have as code: whole words between backticks, a list of them or with a value. */
function missing(names: string[], path: string): string[] {
  const words = new Set(inlineCode(page(path)).flatMap((code) => code.match(/\w+/g) ?? []));
  return names.filter((name) => !words.has(name));
}

test("docs/codes.md explains every code that ends a command, or that a finding of doctor has", () => {
  const codes = [
    ...found(/\bcode: "([A-Z]+(?:_[A-Z]+)+)"/g),
    ...found(/^ {2}([A-Z]+(?:_[A-Z]+)+): EXIT\./gm),
    // Those of doctor's findings.
    ...found(/(?<![.\w])(?:warn|fail|notChecked|\(\w+ \? warn : fail\))\(\s*"([A-Z]+(?:_[A-Z]+)+)"/g),
  ].filter((code) => !NEVER_SHOWN.has(code));
  expect(codes.length).toBeGreaterThan(50);
  expect(missing(codes, "docs/codes.md")).toEqual([]);
});

/** What these files write like codes are names of something else. */
const OTHER_NAMES: Record<string, string> = {
  "cli/child-process/guard-capability.ts": "capabilities",
  "lib/doctor/facts/page-access.ts": "columns",
  "lib/host/metric-names.ts": "series",
  "lib/platform/database/url.ts": "connection parameters",
  "lib/platform/http/call-peer.ts": "ends of codes, which a client puts behind its peer's name",
  "lib/providers/send-outcome.ts": "ends of codes, which a client puts behind its peer's name",
  "lib/schema/requirements.ts": "tables, columns and functions",
  "lib/host/webhook-metric-names.ts": "series",
  "lib/webhook/http/page/": "reasons for the state of the alarm, which the page words",
  "lib/webhook/metrics/metrics.ts": "series",
  "lib/webhook/state/sqlite/": "columns",
  "lib/webhook/alert/about.ts": "labels",
  "lib/webhook/texts/email/alert-email.ts": "states of a row, which its texts word",
  "lib/weekly/email/": "figures, and what more of one means",
  "lib/weekly/report/activation-actions.ts": "actions of a report, which its texts word",
  "lib/weekly/report/email-insights.ts": "insights of a report, which its texts word",
};

/** Words that only look like codes, by what they are. */
const NO_CODES = new Set(
  Object.entries({
    "outcomes within the program": `ask_another default_email in_doubt in_use may_heal no_analysis no_directory no_one
      not_compared not_needed not_open
      not_ready not_sent not_set_up not_taken outbox_full put_back second_pass taken_over`,
    "how a call ended, which becomes a code of its peer":
      "answer_too_large connection_lost tracker_team_missing",
    "kinds of doctor's warnings, which docs/doctor.md explains": "no_run_yet not_checked",
    "words of the e-mail provider, which become ours": "invalid_api_key missing_api_key restricted_api_key",
    "keys of peers, of the driver and of headers": `constraint_name delivery_id last_event match_re memory_stats no_proxy notification_settings object_matchers
      severity_local`,
    "keys of a container's memory": "inactive_file total_inactive_file",
    "tables and constraints": `resend_email_events resend_email_sends social_channel_analyses
      weekly_performance_reconciliations_privacy`,
    "labels and annotations of the alerting platform": "grafana_folder grafana_state_reason",
    "a source of the collector": "proxy_memory",
    "series of the webhook":
      "gateway_open newest_unacknowledged_messages pending_messages previous_secret_total reserve_bytes",
  }).flatMap(([, words]) => words.split(/\s+/)),
);

test("docs/codes.md explains every code of a record and of an answer", () => {
  const words = sources
    .filter(({ path }) => !Object.keys(OTHER_NAMES).some((other) => path.startsWith(other)))
    .flatMap(({ text }) => [...withoutComments(text).matchAll(/"([a-z][a-z\d]*(?:_[a-z\d]+)+)"/g)])
    .map(([, word]) => word!);
  const codes = [...new Set(words)].filter((word) => !NO_CODES.has(word));
  expect(codes.length).toBeGreaterThan(80);
  // The answers of the webhook stand on its own page.
  const missingThere = new Set(missing(codes, "docs/webhook.md"));
  expect(missing(codes, "docs/codes.md").filter((code) => missingThere.has(code))).toEqual([]);
  expect([...NO_CODES].filter((word) => !words.includes(word))).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

test("docs/codes.md explains what can be behind a missing instance", () => {
  const causes = found(/^ {2}((?:sender_)?instance_\w+): \(/gm);
  expect(causes.length).toBeGreaterThan(5);
  expect(missing(causes, "docs/codes.md")).toEqual([]);
});

test("docs/configuration.md explains every variable", () => {
  const settings = found(/^\s+([A-Z][A-Z_]+): (?:required|optional)(?:Secret)?\(/gm);
  const others = found(/\benv\.([A-Z][A-Z_]{5,})/g).filter((name) => name.startsWith("OPSCTL_"));
  expect(settings.length).toBeGreaterThan(25);
  expect(missing([...settings, ...others], "docs/configuration.md")).toEqual([]);
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

/** A command of a document: whole where it stands in a block, perhaps only its name in the middle of a sentence. */
type Shown = { path: string; line: string; words: string[]; isWhole: boolean };

/** Blocks that hold what was printed. */
const OUTPUT = new Set(["text", "console", "mermaid"]);

const shown: Shown[] = PAGES.filter(({ path }) => path !== "CHANGELOG.md").flatMap((each) => [
  ...each.blocks.flatMap((block) => typedIn(block).flatMap((line) => shownIn(each.path, line, true))),
  ...inlineCode(each).flatMap((line) => shownIn(each.path, line, false)),
]);

/** The lines of a block that are typed; among the output of commands those behind a prompt. */
function typedIn({ language, lines }: Block): string[] {
  return OUTPUT.has(language) ? lines.filter((line) => line.startsWith("$ ")) : lines;
}

function shownIn(path: string, line: string, isWhole: boolean): Shown[] {
  return commandsIn(line).map((words) => ({ path, line, words, isWhole }));
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
    expect(commandsIn("ExecStart=/usr/local/bin/opsctl webhook serve")).toEqual([
      ["/usr/local/bin/opsctl", "webhook", "serve"],
    ]);
    expect(ofOpsctl.length).toBeGreaterThan(60);
  });

  test("is one of opsctl's, with options that it has", async () => {
    const problems = await Promise.all(
      ofOpsctl.map(async ({ path, line, words, isWhole }) => {
        const problem = await problemOf(words.slice(1), isWhole);
        return problem === undefined ? [] : [`${path}: ${line}: ${problem}`];
      }),
    );
    expect(problems.flat()).toEqual([]);
  });

  test("that is none, or has another option, is found by this test", async () => {
    expect(await problemOf(["weakly"], true)).toContain("no command");
    expect(await problemOf(["weekly", "--dryrun"], false)).toContain("unknown option --dryrun");
    expect(await problemOf(["deliveries", "reconcile", "<id>", "--to", "sent"], true)).toContain("--reason");
    expect(await problemOf(["deliveries", "reconcile"], false)).toBeUndefined();
  });

  test("is a target of the Makefile behind `make`", () => {
    const targets = new Set(
      [...readFileSync(join(ROOT, "Makefile"), "utf8").matchAll(/^([a-z-]+):/gm)].map(([, name]) => name),
    );
    const made = shown.filter(({ words }) => words[0] === "make");
    expect(made.length).toBeGreaterThan(20);
    const unknown = made.flatMap(({ path, words }) =>
      words.slice(1).flatMap((word) => (word.includes("=") || targets.has(word) ? [] : [`${path}: ${word}`])),
    );
    expect(unknown).toEqual([]);
  });
});

/** What stands for anything in a command that is shown, and what may stand there. */
const PLACEHOLDER = /^(?:<[^>]+>|…)$/;
const VALUES = ["3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d", "17", "2026-11-16", "x"];

/** What is wrong with a command line, or undefined; in the middle of a sentence what is left out is no fault. */
async function problemOf(words: readonly string[], isWhole: boolean): Promise<string | undefined> {
  let group: typeof root = root;
  for (const [at, word] of words.entries()) {
    if (word === "--help" || word === "--version" || PLACEHOLDER.test(word)) return undefined;
    const next = Object.hasOwn(group.commands, word) ? group.commands[word]! : undefined;
    if (next === undefined) return `there is no command ${word}`;
    if ("load" in next) return argumentProblem(words.slice(at + 1), await next.load(), isWhole);
    group = next;
  }
  return isWhole ? "it is not a whole command" : undefined;
}

type Command = Parameters<typeof strictArguments>[1];

function argumentProblem(words: readonly string[], command: Command, isWhole: boolean): string | undefined {
  if (words.includes("--help")) return undefined;
  const problems = filledIn(words).map((line) => {
    const checked = strictArguments(line, command);
    return "problem" in checked ? checked.problem : undefined;
  });
  if (problems.includes(undefined)) return undefined;
  if (isWhole) return problems[0];
  return problems.every((problem) => /^unknown option|^unexpected/.test(problem!)) ? problems[0] : undefined;
}

/** The line with each of its placeholders filled in every way. */
function filledIn(words: readonly string[]): string[][] {
  return words.reduce<string[][]>(
    (lines, word) => {
      const values = PLACEHOLDER.test(word) ? VALUES : [word];
      return lines.flatMap((line) => values.map((value) => [...line, value]));
    },
    [[]],
  );
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

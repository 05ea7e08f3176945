/** Completion: what opsctl offers for a line, and its scripts in real shells, zsh and fish out of their Debian packages. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { weekWindow } from "../../../lib/time/week-window.ts";
import { eachCommand } from "../../cli/support/each-command.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { findDebianTool } from "../../support/debian-tool.ts";
import { requires } from "../../support/requires.ts";
import { opsctl } from "../support/opsctl.ts";
import { type TypingShell, typingShell } from "../support/typing-shell.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Settings that every other command would refuse. */
const BROKEN = { OPSCTL_ENV_DIR: "/dev/null", OPSCTL_SECRETS_DIR: "relative", OPSCTL_LOG_LEVEL: "loud" };

/** A line, and what it is after a tab. */
const COMPLETED: [string, string][] = [
  ["opsctl rep", "opsctl reports"],
  ["opsctl webhook dead re", "opsctl webhook dead retry"],
  ["opsctl weekly --dr", "opsctl weekly --dry-run"],
  ["opsctl reports list --state mi", "opsctl reports list --state missing"],
  ["opsctl reports list --state=mi", "opsctl reports list --state=missing"],
  ['opsctl deliveries reconcile "a b: c" --to se', "opsctl deliveries reconcile a b: c --to sent"],
  [
    "opsctl deliveries reconcile x --reason a:b=c --act",
    "opsctl deliveries reconcile x --reason a:b=c --actor",
  ],
  ["opsctl doctor weekly --j", "opsctl doctor weekly --json"],
  ["opsctl explain WEEK_O", "opsctl explain WEEK_OPEN"],
  ["A=1 opsctl migrate --st", "A=1 opsctl migrate --status"],
  ["opsctl reports preview --out /usr/lo", "opsctl reports preview --out /usr/local"],
  ["opsctl reports preview --out=/usr/lo", "opsctl reports preview --out=/usr/local"],
  ["opsctl nothing x", "opsctl nothing x"],
];

/** What opsctl offers behind a line, without the words about it. */
async function offered(line: string): Promise<string[]> {
  // What bash takes for the word at the cursor.
  const word = line.split(/[\s=:]/).at(-1)!;
  const { exitCode, stdout, stderr } = await opsctl(["internal", "complete", "line", line, word], {
    env: BROKEN,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.split("\n").flatMap((offer) => (offer === "" ? [] : [offer.split("\t")[0]!]));
}

describe("the offers of completion", () => {
  test.each<[string, string[]]>([
    ["opsctl re", ["reports"]],
    ["opsctl webhook d", ["dead"]],
    ["opsctl webhook dead ", ["list", "retry", "drop"]],
    ["opsctl --v", ["--version"]],
    ["opsctl webhook -", ["--help"]],
    ["opsctl weakly ", []],
    ["opsctl constructor ", []],
    ["opsctl weekly --skip-email --skip", ["--skip-whatsapp", "--skip-editorials"]],
    ["opsctl weekly --skip-email=x --skip-e", ["--skip-editorials"]],
    ["opsctl weekly x", []],
    ["opsctl weekly --tenant ", []],
    ["opsctl weekly -- --skip", []],
    ["opsctl reports list --state mi", ["missing"]],
    ["opsctl reports list --nothing=mi", []],
    ["opsctl deliveries reconcile --reason 'a: b=c --to' --to ", ["sent", "failed"]],
    ['opsctl deliveries reconcile --reason "a \\" --to " --to s', ["sent"]],
    ["opsctl deliveries reconcile a\\ b --to f", ["failed"]],
    ["opsctl doctor soc", ["socket-monitor"]],
    ["opsctl doctor -- soc", ["socket-monitor"]],
    ["opsctl doctor weekly soc", []],
    ["opsctl doctor --env-dir=/e", [":directories"]],
    ["opsctl reports preview --out ", [":directories"]],
    ["opsctl help webhook de", ["dead"]],
    ["opsctl completion ", ["bash", "zsh", "fish"]],
    ["opsctl explain WEEK_O", ["WEEK_OPEN"]],
    ["opsctl secret set HOST", ["HOSTING_TOKEN"]],
    ["opsctl migrate --log-format ", ["text", "json"]],
  ])("the offers behind %p are %p", async (line, expected) => {
    expect(await offered(line)).toEqual(expected);
  });

  test("weeks are offered newest first: the last eight that have closed, and older ones for pruning", async () => {
    const monday = Temporal.PlainDate.from(weekWindow(Temporal.Now.instant()).week);
    const weeksBefore = (weeks: number) => monday.subtract({ weeks }).toString();
    expect(await offered("opsctl reports show --week ")).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map(weeksBefore));
    // Content is kept for eight weeks after they have closed.
    expect((await offered("opsctl reports prune --before "))[0]).toBe(weeksBefore(7));
  });

  test("every option of every command is offered with a few words", async () => {
    for (const { words, command } of await eachCommand()) {
      const { stdout } = await opsctl(["internal", "complete", "words", ...words, "--"], { env: BROKEN });
      const offers = stdout
        .trimEnd()
        .split("\n")
        .map((offer) => offer.split("\t"));
      const options = Object.entries(command.args).filter(([, { type }]) => type !== "positional");
      expect(offers.map(([name]) => name).toSorted()).toEqual(
        [...options.map(([name]) => `--${name}`), "--help"].toSorted(),
      );
      for (const [, about] of offers) expect(about!.length).toBeGreaterThan(5);
    }
  });

  test.each([
    [[]],
    [["words"]],
    [["line"]],
    [["what"]],
    [["line", "opsctl x --", "y"]],
    [["words", "weekly", "--tenant="]],
  ])("nothing is offered for a question of %j, without a complaint", async (words) => {
    const ended = await opsctl(["internal", "complete", ...words], { env: BROKEN });
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

const withoutSlash = (line: string) => line.replace(/\/$/, "");

describe("completion in bash", () => {
  let shell: TypingShell;
  beforeAll(async () => {
    shell = await typingShell(["bash", "--norc", "--noprofile", "-i"], {
      setUp: "source <(opsctl completion bash)",
      env: { PS1: "" },
    });
  });
  afterAll(() => shell.dispose());

  test.each(COMPLETED)("%s becomes %s", async (line, expected) => {
    expect(withoutSlash(await shell.completed(line))).toBe(expected);
  });
});

const zsh = findDebianTool({ program: "zsh", packageName: "zsh", needsOthers: true });

requires("zsh").describe("completion in zsh", () => {
  let shell: TypingShell;
  beforeAll(async () => {
    shell = await openZsh(zsh as string, { folders: [], load: "source <(opsctl completion zsh)" });
  });
  afterAll(() => shell?.dispose());

  test.each(COMPLETED)("%s becomes %s", async (line, expected) => {
    expect(withoutSlash(await shell.completed(line))).toBe(expected);
  });

  test("the script is also found by its name, as it is installed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "opsctl-functions-"));
    copyFileSync(join(ROOT, "cli/completion/scripts/opsctl.zsh"), join(folder, "_opsctl"));
    const installed = await openZsh(zsh as string, { folders: [folder], load: ":" });
    expect(await installed.completed("opsctl webhook dead re")).toBe("opsctl webhook dead retry");
    expect(await installed.completed("opsctl weekly --dr")).toBe("opsctl weekly --dry-run");
    await installed.dispose();
    rmSync(folder, { recursive: true });
  });
});

/** Out of its package zsh finds neither its modules nor its functions by itself. */
async function openZsh(
  zsh: string,
  { folders, load }: { folders: string[]; load: string },
): Promise<TypingShell> {
  const top = join(dirname(zsh), "..");
  const isUnpacked = zsh.includes("/");
  const found = isUnpacked ? functionFolders(join(top, "usr/share/zsh/functions")) : ["$fpath"];
  const setUp = [
    "PS1=",
    isUnpacked ? `module_path=(${join(top, "usr/lib")}/*-linux-gnu/zsh/*)` : ":",
    `fpath=(${[...folders, ...found].join(" ")})`,
    "zmodload zsh/zle; bindkey -e; autoload -Uz compinit; compinit -u -D",
    load,
  ];
  return await typingShell([zsh, "-f", "-i"], { setUp: setUp.join("; "), env: {} });
}

function functionFolders(top: string): string[] {
  const below = readdirSync(top, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return [top, ...below.map((entry) => join(entry.parentPath, entry.name))];
}

const fish = findDebianTool({ program: "fish", packageName: "fish" });

requires("fish").describe("completion in fish", () => {
  test.each(COMPLETED)("%s becomes %s", async (line, expected) => {
    const functions = join(dirname(fish as string), "../share/fish/functions");
    const script = [
      (fish as string).includes("/") ? `set -g fish_function_path ${functions}` : "",
      "opsctl completion fish | source",
      `complete -C '${line}'`,
    ];
    const folder = dirname(await opsctlBinary());
    // fish makes folders in its home.
    const home = mkdtempSync(join(tmpdir(), "opsctl-fish-"));
    const { stdout } = spawnSync(fish as string, ["--no-config", "-c", script.join("\n")], {
      encoding: "utf8",
      env: { PATH: `${folder}:${process.env.PATH}`, HOME: home },
    });
    rmSync(home, { recursive: true });
    const offers = stdout
      .split("\n")
      .filter(Boolean)
      .map((offer) => withoutSlash(offer.split("\t")[0]!));
    // fish says what the last word may become.
    expect(offers).toEqual(expected === line ? [] : [expected.split(" ").at(-1)!]);
  });
});

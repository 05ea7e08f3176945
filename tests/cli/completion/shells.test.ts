/** The completion scripts in real shells: bash as it is on the machine, zsh and fish out of their Debian packages. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { opsctlBinary } from "../../support/binary.ts";
import { findDebianTool } from "../../support/debian-tool.ts";
import { type TypingShell, typingShell } from "../support/typing-shell.ts";

const ROOT = join(import.meta.dirname, "../../..");

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

const withoutSlash = (line: string) => line.replace(/\/$/, "");

describe("in bash", () => {
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

describe.skipIf(zsh === null)(`in zsh${zsh === null ? " (not tried: no package zsh)" : ""}`, () => {
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

describe.skipIf(fish === null)(`in fish${fish === null ? " (not tried: no package fish)" : ""}`, () => {
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

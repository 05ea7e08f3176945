/** The man pages, as `make man` makes them. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { manPages, pageName, roff, roffLines } from "../../.ci/manual.ts";
import { root } from "../../cli/root.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { requires } from "../support/requires.ts";
import { eachCommand } from "./support/each-command.ts";

const ROOT = join(import.meta.dirname, "../..");
const pages = await manPages("opsctl", root, "2026-11-23");
const commands = await eachCommand();

describe("the man pages", () => {
  test("are one for opsctl, for each group and for each command", () => {
    const paths = commands.map(({ words }) => `opsctl ${words.join(" ")}`);
    expect(pages.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["opsctl", "opsctl webhook", ...paths]),
    );
    expect(new Set(pages.map(({ path }) => pageName(path))).size).toBe(pages.length);
  });

  test("name every option of their command, and every command of their group", () => {
    expect(commands.length).toBeGreaterThan(20);
    for (const { words, command } of commands) {
      const { text } = pages.find(({ path }) => path === `opsctl ${words.join(" ")}`)!;
      for (const name of Object.keys(command.args)) expect(text).toContain(roff(name));
    }
    expect(pages[0]!.text).toContain("opsctl\\-collect\\-metrics(1)");
  });

  test("refer only to pages that there are", () => {
    const names = new Set(pages.map(({ path }) => pageName(path)));
    const named = pages.flatMap(({ text }) => [...text.matchAll(/(opsctl[a-z\\-]*)(?:\\fR)?\(1\)/g)]);
    expect(named.length).toBeGreaterThan(pages.length);
    expect(named.filter(([, name]) => !names.has(name!.replaceAll("\\-", "-")))).toEqual([]);
  });

  const mandoc = findDebianTool({ program: "mandoc", packageName: "mandoc", versionWord: "-Kutf-8" });
  requires("mandoc").test("pass mandoc's lint", () => {
    const { status, stdout } = inFolder((folder) =>
      spawnSync(mandoc as string, ["-Tlint", "-Wwarning", ...files(folder)], { encoding: "utf8" }),
    );
    expect([status, stdout]).toEqual([0, ""]);
  });

  requires("mandoc").test("would not pass it with an unknown macro", () => {
    const input = `${pages[0]!.text}.XX\n.TP\n`;
    expect(
      spawnSync(mandoc as string, ["-Tlint", "-Wwarning"], { input, encoding: "utf8" }).stdout,
    ).toContain("XX");
  });

  test("are the same bytes each time, made with the date that is handed in; pages that are gone are removed", () => {
    const [first, second] = [0, 1].map(() =>
      inFolder((folder) => {
        spawnSync("mkdir", [join(folder, "man")]);
        writeFileSync(join(folder, "man/opsctl-gone.1"), "");
        const env = { ...process.env, SOURCE_DATE_EPOCH: "1764000000" };
        const { status, stderr } = spawnSync(process.execPath, [join(ROOT, ".ci/manual.ts"), folder], {
          env,
        });
        expect([status, stderr.toString()]).toEqual([0, ""]);
        return readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), "utf8")])
          .sort();
      }),
    );
    expect(second).toEqual(first!);
    const names = first!.map(([name]) => name);
    expect(names).toEqual(
      [...pages.map(({ path }) => `${pageName(path)}.1`), "_opsctl", "opsctl.bash", "opsctl.fish"].sort(),
    );
    expect(first!.find(([name]) => name === "opsctl.1")![1]).toContain(".TH OPSCTL 1 2025-11-24 ");
  });
});

describe("roff()", () => {
  test("leaves nothing that roff would take for its own, and hyphens that can be copied", () => {
    expect(roff(".TH 'a' `b` \\c --d ^~ São…")).toBe(
      "\\&.TH \\(aqa\\(aq \\(gab\\(ga \\ec \\-\\-d \\(ha\\(ti S\\[u00E3]o\\[u2026]",
    );
  });

  test("keeps a line that is broken before a dot from becoming a macro", () => {
    expect(roffLines(`${"x".repeat(78)} .env is a file`)).toBe(`${"x".repeat(78)}\n\\&.env is a file`);
  });
});

function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-man-"));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function files(folder: string): string[] {
  return pages.map(({ path, text }) => {
    const file = join(folder, `${pageName(path)}.1`);
    writeFileSync(file, text);
    return file;
  });
}

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parseEnvFile } from "../../../lib/platform/config/env-file.ts";

describe("parseEnvFile()", () => {
  test.each([
    ["a plain value", "A=b", { A: "b" }],
    ["blanks around name and value", "  A =  b c \t\nB=\t\n", { A: "b c", B: "" }],
    ["comments of both kinds", "# A=1\n;B=2\n  # C=3\nD=4#5", { D: "4#5" }],
    ["a comment that ends in a backslash, which joins nothing", "# comment \\\nA=1", { A: "1" }],
    ["single quotes, whatever they hold", "A='x \"$HOME\\n` # y '", { A: 'x "$HOME\\n` # y ' }],
    ["double quotes and their escapes", 'A="a \\"b\\" \\$c \\` \\\\ \\n"', { A: 'a "b" $c ` \\ \\n' }],
    ["a quoted value over lines", "A='1\n2'\nB=\"1\\\n2\"", { A: "1\n2", B: "12" }],
    ["quoted pieces one after the other", "A='1'  \"2\" 3", { A: "123" }],
    ["a quote inside a bare value", 'A=it\'s "so"', { A: 'it\'s "so"' }],
    ["an escaped blank at the end", "A=b\\  \nB=\\#c", { A: "b ", B: "#c" }],
    ["a joined line", "A=1\\\n2", { A: "12" }],
    ["line ends of another system", "A=1\r\nB=2\r\n", { A: "1", B: "2" }],
    ["the last of two", "A=1\nA=2", { A: "2" }],
    ["an export and a byte order mark", "\uFEFFexport A=1", { A: "1" }],
    ["nothing that is no name", "1A=1\nA-B=1\n=x\nA", {}],
    ["an expansion, which is none", "A=$(id) $C", { A: "$(id) $C" }],
    ["names of an object's own", "constructor=2\n__proto__=1", { constructor: "2", ["__proto__"]: "1" }],
    ["an unfinished quote", "A='1\nB=2", { A: "1\nB=2" }],
    ["nothing", "", {}],
  ])("reads %s", (_what, text, expected) => {
    expect([...parseEnvFile(text)]).toEqual(Object.entries(expected));
  });

  test("reads the sample files that are installed", () => {
    const webhook = parseEnvFile(readFileSync("systemd/webhook.env.example", "utf8"));
    expect(webhook.get("WEBHOOK_SECRET")).toBe("");
    expect([...webhook.values()].every((value) => value === "")).toBe(true);
    const weekly = parseEnvFile(readFileSync("systemd/weekly.env.example", "utf8"));
    expect([...weekly.keys()]).toContain("APP_BASE_URL");
  });
});

import { expect, test } from "bun:test";
import { prose, proseLines } from "../../../lib/text/terminal/prose.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { terminal } from "../support/terminal.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";

test("proseLines() leaves a line whole where nothing limits it", () => {
  const line = `Look at ${ID}, and then: opsctl deliveries show ${ID}`;
  expect(proseLines(line, NO_TERMINAL, { indent: "  ", breaksWords: true })).toEqual([line]);
});

test("proseLines() keeps a command at the end whole, and alone", () => {
  expect(
    proseLines(`  Look at it by hand: opsctl deliveries show ${ID}`, terminal(20), { indent: "  " }),
  ).toEqual(["  Look at it by", "  hand:", `    opsctl deliveries show ${ID}`]);
  expect(proseLines(`  opsctl deliveries show ${ID}`, terminal(20))).toEqual([
    `  opsctl deliveries show ${ID}`,
  ]);
});

test.each([
  "sudo OPSCTL_SECRETS_DIR=/srv/keys OPSCTL_ENV_DIR= opsctl secret list",
  "runuser --pty -u opsctl -- mv -nT /srv/x /srv/x.old",
])("proseLines() keeps %s whole behind words, but not where no command is meant", (command) => {
  expect(proseLines(`Look at it, then: ${command}`, terminal(20))).toEqual([
    "Look at it, then:",
    `  ${command}`,
  ]);
  expect(proseLines(`It says: ${command}`, terminal(20), { hasCommand: false })).not.toContain(
    `  ${command}`,
  );
});

test("proseLines() breaks a word only where that is asked for", () => {
  const word = "x".repeat(25);
  expect(proseLines(`is ${word}`, terminal(12), { indent: "  " })).toEqual(["is", `  ${word}`]);
  expect(proseLines(`is ${word}`, terminal(12), { indent: "  ", breaksWords: true })).toEqual([
    "is",
    `  ${"x".repeat(10)}`,
    `  ${"x".repeat(10)}`,
    `  ${"x".repeat(5)}`,
  ]);
});

test("prose() takes out what must not be printed before it breaks a line", () => {
  const clean = (text: string) => text.replace("98 76", "***");
  expect(prose(["by 98 76 himself"], terminal(6, { clean }))).toBe("by ***\nhimself\n");
});

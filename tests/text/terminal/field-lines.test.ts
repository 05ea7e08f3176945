import { expect, test } from "bun:test";
import { fieldLines } from "../../../lib/text/terminal/field-lines.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { terminal } from "../support/terminal.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const FIELDS = [
  ["Owner", ID],
  ["Networks", "four asked for, one failed, as the run of this host says"],
  ["Code", null],
] as const;

test("fieldLines() aligns values, one line for each where nothing limits it", () => {
  expect(fieldLines(FIELDS, NO_TERMINAL, { indent: "  ", nameWidth: 10 })).toEqual([
    `  Owner     ${ID}`,
    "  Networks  four asked for, one failed, as the run of this host says",
    "  Code      -",
  ]);
});

test("fieldLines() goes on below a value that is longer than the line", () => {
  expect(fieldLines(FIELDS, terminal(48))).toEqual([
    `Owner    ${ID}`,
    "Networks four asked for, one failed, as the run",
    "         of this host says",
    "Code     -",
  ]);
});

test("fieldLines() puts below its name what does not fit beside it, ids whole", () => {
  expect(fieldLines(FIELDS, terminal(30))).toEqual([
    "Owner",
    `  ${ID}`,
    "Networks",
    "  four asked for, one failed,",
    "  as the run of this host says",
    "Code     -",
  ]);
});

test("fieldLines() colours names alone", () => {
  expect(fieldLines([["Code", "x"]], terminal(80, { colour: true }))).toEqual(["\u001b[2mCode\u001b[22m x"]);
});

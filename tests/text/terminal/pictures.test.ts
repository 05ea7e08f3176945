/** Every table and screen: the golden one of 80 columns, and rules that hold at every width and in a pipe. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "../../../lib/text/display-width.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { terminal } from "../support/terminal.ts";
import { IDS } from "./support/ids.ts";
import { PICTURES } from "./support/pictures.ts";

// `UPDATE_GOLDEN=1 make test ONLY=tests/text/terminal` writes the files anew; read the difference before committing.
const UPDATE = process.env.UPDATE_GOLDEN === "1";
const FOLDER = new URL("../../golden/terminal/", import.meta.url).pathname;
const WIDTHS = [60, 80, 120, 200];
/** What can be copied as a whole is never broken. */
const COMMAND = /^ +(?:-> )?(?:sudo )?(?:opsctl|install|systemctl|journalctl) /;

const names = Object.keys(PICTURES);
const linesAt = (name: string, width: number, colour = false) =>
  PICTURES[name]!(terminal(width, { colour })).split("\n");

describe.each(names)("the picture of %s", (name) => {
  test("is the golden one, at 80 columns", () => {
    const drawn = linesAt(name, 80).join("\n");
    const path = `${FOLDER}${name}.txt`;
    if (UPDATE) writeFileSync(path, drawn);
    expect(drawn).toBe(readFileSync(path, "utf8"));
  });

  test.each([40, ...WIDTHS])("fits %d columns, but for an id or a command alone", (width) => {
    const isAlone = (line: string) => !line.trim().includes(" ") || COMMAND.test(line);
    const tooWide = linesAt(name, width).filter((line) => displayWidth(line) > width && !isAlone(line));
    expect(tooWide).toEqual([]);
  });

  test("has the same ids at every width as in a pipe, where each row is one line", () => {
    const idsIn = (text: string) => IDS.map((id) => text.split(id).length);
    const piped = PICTURES[name]!(NO_TERMINAL);
    for (const width of [20, ...WIDTHS]) expect(idsIn(linesAt(name, width).join("\n"))).toEqual(idsIn(piped));
  });

  test("has no character that a terminal obeys, and with colours nothing but colours besides", () => {
    for (const width of WIDTHS) {
      const plain = linesAt(name, width);
      const coloured = linesAt(name, width, true);
      expect(plain.join("")).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      expect(coloured.map(stripVTControlCharacters)).toEqual(plain);
      expect(coloured.join("").replace(/\p{Cc}\[\d+m/gu, "")).not.toMatch(/\p{Cc}/u);
    }
  });
});

test("every golden file belongs to a picture", () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(names.map((name) => `${name}.txt`).toSorted());
});

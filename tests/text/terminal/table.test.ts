import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { displayWidth } from "../../../lib/text/display-width.ts";
import { singleLine } from "../../../lib/text/single-line.ts";
import { NO_TERMINAL, stateTone } from "../../../lib/text/terminal/screen.ts";
import { type Column, renderTable } from "../../../lib/text/terminal/table.ts";
import { terminal } from "../support/terminal.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const COLUMNS: Column[] = [
  { title: "TENANT", wraps: true },
  { title: "ID" },
  { title: "STATE", tone: stateTone },
  { title: "NOTES", wraps: true },
];
const ROWS = [
  ["Padaria do Zé e filhos", ID, "sent", null],
  ["株式会社", ID, "failed", "WhatsApp: recipient_phone_missing"],
];

/** No column of words is narrower. */
const NARROWEST = 16;
const wordsOf = (cells: readonly (string | null)[]) =>
  cells.flatMap((cell) => singleLine(cell ?? "").split(" ")).filter((word) => word !== "");
const withoutBlanks = (text: string) => text.replace(/\s/g, "");
const firstOf = (word: string) => [...new Intl.Segmenter().segment(word)][0]!.segment;

/** What alerts and tenants are called, and worse. */
const WORD = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    "株式会社",
    "👩‍🌾👩‍🌾",
    "مخبز",
    "שלום",
    "e\u0301\u0302\u0303",
    "\u001b[31m",
    "\u0000",
    "\u202e",
    "🇧🇷",
  ),
  fc.integer({ min: 30, max: 300 }).map((length) => "y".repeat(length)),
);

describe("renderTable()", () => {
  test("has a line for each row where nothing limits it, absence as a dash, and no blank at a line's end", () => {
    expect(renderTable(COLUMNS, ROWS, NO_TERMINAL).split("\n")).toEqual([
      "TENANT                  ID                                    STATE   NOTES",
      `Padaria do Zé e filhos  ${ID}  sent    -`,
      `株式会社                ${ID}  failed  WhatsApp: recipient_phone_missing`,
      "",
    ]);
    expect(renderTable(COLUMNS, [["", ID, "", ""]], NO_TERMINAL)).toBe(
      `TENANT  ID                                    STATE  NOTES\n        ${ID}\n`,
    );
  });

  test("breaks cells between words, those of the widest column first, and has its titles once", () => {
    expect(renderTable(COLUMNS, ROWS, terminal(90)).split("\n")).toEqual([
      "TENANT               ID                                    STATE   NOTES",
      `Padaria do Zé e      ${ID}  sent    -`,
      "filhos",
      `株式会社             ${ID}  failed  WhatsApp:`,
      "                                                                   recipient_phone_missing",
      "",
    ]);
  });

  test("wraps a title that is longer than its cells", () => {
    const columns = [{ title: "ID" }, { title: "RETRY UNTIL (SÃO PAULO)" }, { title: "WEEK" }];
    expect(renderTable(columns, [["1", "closed", "2026-11-16"]], terminal(27)).split("\n")).toEqual([
      "ID  RETRY UNTIL  WEEK",
      "    (SÃO PAULO)",
      "1   closed       2026-11-16",
      "",
    ]);
  });

  test("makes a block of each row where no table fits, without what is absent", () => {
    expect(renderTable(COLUMNS, ROWS, terminal(60)).split("\n")).toEqual([
      "tenant: Padaria do Zé e filhos",
      `    id: ${ID}  state: sent`,
      `tenant: 株式会社  id: ${ID}`,
      "    state: failed  notes: WhatsApp: recipient_phone_missing",
      "",
    ]);
    expect(renderTable(COLUMNS, [[null, null, null, null]], terminal(20))).toBe("-\n");
  });

  test("a table without rows shows the titles", () => {
    expect(renderTable(COLUMNS, [], NO_TERMINAL)).toBe("TENANT  ID  STATE  NOTES\n");
    expect(renderTable(COLUMNS, [], terminal(10))).toBe("");
  });

  test("colours titles, names and states, and aligns as without colours", () => {
    const wide = renderTable(COLUMNS, ROWS.slice(0, 1), terminal(200, { colour: true }));
    expect(wide).toStartWith("\u001b[1mTENANT\u001b[22m                  \u001b[1mID\u001b[22m");
    expect(wide).toContain(`${ID}  \u001b[32msent\u001b[39m   -\n`);
    const narrow = renderTable(COLUMNS, ROWS.slice(1), terminal(60, { colour: true }));
    expect(narrow).toContain("\u001b[2mstate:\u001b[22m \u001b[31mfailed\u001b[39m");
  });

  test("takes out what must not be printed before it breaks a line", () => {
    const clean = (text: string) => text.replace("+55 11 98765 4321", "***4321");
    const columns = [{ title: "NAME", wraps: true as const }, { title: "ID" }];
    const text = renderTable(columns, [["Oficina do Zé +55 11 98765 4321", ID]], terminal(62, { clean }));
    expect(text).toContain("***4321");
    expect(text).not.toContain("98765");
  });

  test("shows the whole of a word that is longer than any line", () => {
    const columns = [{ title: "ALERT", wraps: true as const }];
    fc.assert(
      fc.property(
        fc.array(WORD, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 20, max: 80 }),
        (words, width) => {
          const name = words.join(" ");
          const text = renderTable(columns, [[name]], terminal(width));
          expect(withoutBlanks(text)).toContain(withoutBlanks(singleLine(name)));
        },
      ),
    );
  });

  test("holds for any cells and any width", () => {
    const cell = fc.option(
      fc.array(WORD, { maxLength: 12 }).map((words) => words.join(" ")),
      { nil: null },
    );
    const row = fc.tuple(cell, fc.uuid(), fc.constantFrom("sent", "in doubt"), cell);
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 20, max: 220 }),
        (rows, width) => {
          const text = renderTable(COLUMNS, rows, terminal(width));
          const lines = text.split("\n");
          const ids = rows.map(([, id]) => id);
          const tooWide = lines.filter((line) => displayWidth(line) > width && !ids.includes(line.trim()));
          expect(tooWide).toEqual([]);
          for (const id of ids) expect(text).toContain(id);
          expect(text).not.toMatch(/[^\P{Cc}\n]/u);
          for (const word of wordsOf(rows.flat())) {
            // Only a word that is longer than a line may be broken.
            if (displayWidth(word) <= Math.min(NARROWEST, width - 8)) expect(text).toContain(word);
            else expect(withoutBlanks(text)).toContain(firstOf(word));
          }
        },
      ),
    );
  });
});

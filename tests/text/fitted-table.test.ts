import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { displayWidth } from "../../lib/text/display-width.ts";
import { renderFittedTable } from "../../lib/text/fitted-table.ts";

const ID = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
const COLUMNS = [
  { title: "TENANT", shortest: 8 },
  { title: "ID" },
  { title: "STATE" },
  { title: "NOTES", shortest: 10 },
];
const ROWS = [
  ["Padaria do Zé e filhos", ID, "sent", null],
  ["株式会社", ID, "failed", "WhatsApp: recipient_phone_missing"],
];

describe("renderFittedTable()", () => {
  test("is as wide as its cells where nothing limits it", () => {
    expect(renderFittedTable(COLUMNS, ROWS, null).split("\n")).toEqual([
      "TENANT                  ID                                    STATE   NOTES",
      `Padaria do Zé e filhos  ${ID}  sent    -`,
      `株式会社                ${ID}  failed  WhatsApp: recipient_phone_missing`,
      "",
    ]);
  });

  test("cuts the widest column that may be cut first, and never an id", () => {
    expect(renderFittedTable(COLUMNS, ROWS, 80).split("\n")).toEqual([
      "TENANT            ID                                    STATE   NOTES",
      `Padaria do Zé e…  ${ID}  sent    -`,
      `株式会社          ${ID}  failed  WhatsApp: recip…`,
      "",
    ]);
  });

  test("tells each row in a paragraph of its own where no table fits", () => {
    expect(renderFittedTable(COLUMNS, ROWS, 60).split("\n")).toEqual([
      "Padaria do Zé e filhos",
      `    id ${ID}  state sent`,
      "株式会社",
      `    id ${ID}  state failed`,
      "    notes WhatsApp: recipient_phone_missing",
      "",
    ]);
  });

  test("fits any terminal that is as wide as the longest cell that must be whole, and keeps every id whole", () => {
    const cell = fc.option(fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 60 }), { nil: null });
    const row = fc.tuple(cell, fc.uuid(), fc.constantFrom("sent", "failed"), cell);
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 44, max: 200 }),
        (rows, width) => {
          const text = renderFittedTable(COLUMNS, rows, width);
          for (const line of text.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width);
          for (const [, id] of rows) expect(text).toContain(id);
        },
      ),
    );
  });
});

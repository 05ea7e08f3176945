import { expect, test } from "bun:test";
import { renderTable } from "../../lib/text/table.ts";

test("renderTable() aligns columns, shows absence as a dash and leaves no blank at a line's end", () => {
  expect(
    renderTable(
      ["ID", "STATE", "CODE"],
      [
        ["1", "failed", "recipient_phone_missing"],
        ["200", "sent", null],
        ["3", "", ""],
      ],
    ),
  ).toBe("ID   STATE   CODE\n1    failed  recipient_phone_missing\n200  sent    -\n3\n");
});

test("renderTable() without rows shows the titles", () => {
  expect(renderTable(["ID", "STATE"], [])).toBe("ID  STATE\n");
});

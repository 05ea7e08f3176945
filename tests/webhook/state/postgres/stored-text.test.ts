import { expect, test } from "bun:test";
import { restoredText, storedText } from "../../../../lib/webhook/state/postgres/stored-text.ts";
import { ODD_TEXTS } from "../../support/odd-texts.ts";

test("storedText() keeps plain texts as they are, and restoredText() gives every text back", () => {
  for (const plain of ["issue:f1", "ação 🚨", "a'b", " ", ""]) expect(storedText(plain)).toBe(plain);
  for (const text of ODD_TEXTS) expect(restoredText(storedText(text))).toBe(text);
});

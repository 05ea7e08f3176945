import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { maskPhone } from "../../lib/text/mask.ts";
import { normalizePhone } from "../../lib/text/phone.ts";

describe("normalizePhone()", () => {
  test.each([
    ["+55 (11) 98765-4321", "5511987654321"],
    ["5511987654321", "5511987654321"],
    ["11987654321", "5511987654321"],
    ["11 98765 4321 ", "5511987654321"],
    ["011 98765-4321", "5511987654321"],
    ["(011) 8765-4321", "551187654321"],
    ["1187654321", "551187654321"],
    // Area code 55 is Santa Maria's; eleven digits have no country code yet.
    ["55 98765-4321", "5555987654321"],
    ["0055 11 98765-4321", "5511987654321"],
    ["+55 011 98765-4321", "5511987654321"],
    ["+55 (0)11 98765-4321", "5511987654321"],
    ["11.98765.4321", "5511987654321"],
    ["11\u00A098765\u20114321", "5511987654321"],
    ["\u202A+55 11 98765-4321\u202C", "5511987654321"],
    ["11 98765-4321\n", "5511987654321"],
    ["0800 123 4567", "558001234567"],
    ["+1 415 555 2671", "14155552671"],
    ["+44 (0)20 7946 0958", "442079460958"],
    ["+351 912 345 678", "351912345678"],
    ["351912345678", "351912345678"],
    ["123456789012345", "123456789012345"],
  ])("takes %p for %s", (raw, digits) => {
    expect(normalizePhone(raw)).toBe(digits);
  });

  test.each([
    [null],
    [""],
    ["   "],
    ["123"],
    ["4321"],
    ["abc"],
    ["98765-4321"],
    ["+55 98765-432"],
    ["+55 98765-4321"],
    ["+5511"],
    ["1234567890123456"],
    ["11 98765-4321 ramal 2"],
    ["0xx11 98765-4321"],
    ["11 98765-4321 / 11 91234-5678"],
    ["11 98765-4321\n22 98765-4321"],
    ["11 98765-4321, 22 98765-4321"],
    ["015 11 98765-4321"],
    ["00 11 98765"],
    ["+0 11 98765-4321"],
    ["++5511987654321"],
    ["5511987654321+"],
    ["١١٩٨٧٦٥٤٣٢١"],
    ["５５１１９８７６５４３２１"],
    ["5511987654321@s.whatsapp.net"],
    ["5511987654321:12"],
    ["\u0000511987654321"],
  ])("does not guess a number from %p", (raw) => {
    expect(normalizePhone(raw)).toBeNull();
  });

  test("gives ten to fifteen digits, once and for all, or nothing", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[+0-9 ().-]{0,24}$/)),
        (raw) => {
          const digits = normalizePhone(raw);
          if (digits === null) return;
          expect(digits).toMatch(/^[1-9][0-9]{9,14}$/);
          expect(normalizePhone(`+${digits}`)).toBe(digits);
          expect(maskPhone(digits)).toBe(digits.slice(-4));
        },
      ),
    );
  });
});

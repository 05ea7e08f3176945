/** The value of an alert, in its message. */
import { describe, expect, test } from "bun:test";
import type { Unit } from "../../../../lib/webhook/alert/alert.ts";
import { renderMessage } from "../../../../lib/webhook/texts/message/message-text.ts";
import { alertWith } from "../../support/alert.ts";
import { AT_ONCE } from "../../support/golden-parts.ts";

const valueIn = (parts: { value: string | null; unit?: Unit | null }) =>
  /^Valor: (.*)$/m.exec(renderMessage(alertWith(parts), AT_ONCE))?.[1] ?? null;

describe("renderMessage() shows the value", () => {
  test.each<[string, Unit | null, string]>([
    ["11.2", "percent", "11,2 %"],
    ["9", "percent", "9 %"],
    ["612368384", "bytes", "584 MiB"],
    ["0", "bytes", "0 bytes"],
    ["1023", "bytes", "1.023 bytes"],
    ["1024", "bytes", "1 KiB"],
    ["-1536", "bytes", "\u22121,5 KiB"],
    ["1.8e19", "bytes", "15.987,21 PiB"],
    ["42", null, "42"],
    ["0.0012", null, "0,0012"],
    ["4.9e-324", null, "5e-324"],
    ["-0.0012", "percent", "-0,0012 %"],
    ["1.5e-9", null, "1,5e-9"],
    ["612368384", null, "612.368.384"],
    ["1700000000", null, "1,7 bilhão"],
    ["-6123683840", null, "\u22126,12 bilhões"],
    ["2e12", null, "2.000.000.000.000"],
    ["1e300", null, "1,00 × 10^300"],
    ["muito alto", "bytes", "muito alto"],
    ["B=1, C", null, "B=1, C"],
  ])("%p in %p is %p", (value, unit, text) => {
    expect(valueIn({ value, unit })).toBe(text);
  });

  test("is null without a value, and needs no unit", () => {
    expect(valueIn({ value: null, unit: "bytes" })).toBeNull();
    expect(valueIn({ value: "17" })).toBe("17");
  });
});

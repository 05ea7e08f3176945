import { describe, expect, test } from "bun:test";
import { senderText } from "../../../lib/providers/resend/sender.ts";

const ADDRESS = "reports@mail.example";

describe("senderText()", () => {
  test.each([
    [null, ADDRESS],
    ["", ADDRESS],
    [" \r\n\t ", ADDRESS],
    ["<>", ADDRESS],
    ["Relatório Semanal", `Relatório Semanal <${ADDRESS}>`],
    ["Agência S.A. (SP)", `"Agência S.A. (SP)" <${ADDRESS}>`],
    ['Eve <eve@other.example>, "B', `"Eve eve other.example B" <${ADDRESS}>`],
    ["Eve\r\nBcc: eve@other.example", `"Eve Bcc eve other.example" <${ADDRESS}>`],
    ["a\\", `a <${ADDRESS}>`],
    ["\u202eevil\u0000\u2028\ud800", `evil <${ADDRESS}>`],
    ["n".repeat(500), `${"n".repeat(64)} <${ADDRESS}>`],
  ])("makes exactly one address of the name %j", (name, expected) => {
    const text = senderText(ADDRESS, name);
    expect(text).toBe(expected);
    expect(text.match(/@/g)).toHaveLength(1);
    expect(text).not.toMatch(/\p{Cc}/u);
  });
});

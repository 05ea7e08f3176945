import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { unsubscribeAddress } from "../../lib/weekly/unsubscribe-address.ts";

function parse(text: string): string | string[] {
  const result = v.safeParse(unsubscribeAddress.schema({}), text);
  return result.success ? result.output : result.issues.map(({ message }) => message);
}

describe("unsubscribeAddress", () => {
  test.each([
    ["mailto:sair@mail.example", "mailto:sair@mail.example"],
    ["MAILTO:sair@mail.example?subject=Sair", "mailto:sair@mail.example?subject=Sair"],
    [
      "mailto:sair@mail.example?subject=N%C3%A3o%20quero",
      "mailto:sair@mail.example?subject=N%C3%A3o%20quero",
    ],
    ["https://app.example.com", "https://app.example.com/"],
    ["HTTPS://App.example.com/sair?lista=semanal#topo", "https://app.example.com/sair?lista=semanal#topo"],
    [unsubscribeAddress.example!, unsubscribeAddress.example!],
  ])("takes %s", (text, address) => {
    expect(parse(text)).toBe(address);
  });

  const neither = ["is neither mailto: nor https"];
  const notOne = ["is not one address, with nothing but a subject"];
  const odd = "holds a character that has to be percent-encoded";
  test.each([
    ["sair@mail.example", neither],
    ["http://app.example.com/sair", neither],
    ["https://", neither],
    ["javascript:alert(1)", neither],
    ["mailto:", notOne],
    ["mailto:sair", notOne],
    ["mailto:sair@localhost", notOne],
    ["mailto:sair@mail.example?cc=eve@other.example", notOne],
    ["mailto:sair@mail.example?subject=Sair&bcc=eve@other.example", notOne],
    ["mailto:sair@mail.example?subject=Sair%26bcc%3Deve@other.example", notOne],
    ["mailto:sair@mail.example?subject=Sair%0D%0ABcc:eve@other.example", notOne],
    ["mailto:sair@mail.example%2Ceve@other.example", notOne],
    ["mailto:sair@mail.example%0d%0aBcc:eve@other.example", notOne],
    ["mailto:jo%C3%A3o@mail.example", notOne],
    ["mailto:sair@mail.example?subject=%zz", notOne],
    ["mailto:sair@mail.example#subject=Sair", notOne],
    ["https://user:canary@app.example.com/", ["carries a user name or a password"]],
    ["mailto:sair@mail.example,eve@other.example", [odd]],
    ["https://app.example.com/sair>, <https://other.example", [odd]],
    ["https://app.example.com/sair\r\nBcc: eve@other.example", [odd]],
    [" mailto:sair@mail.example", [odd, ...neither]],
    ["https://app.example.com/opção", [odd]],
    [`https://app.example.com/${"a".repeat(400)}`, ["is longer than 400 characters"]],
  ])("refuses %s", (text, problems) => {
    expect(parse(text)).toEqual(problems);
  });
});

/** The e-mail is small enough for mail clients to show all of it, whatever its report holds. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { heavyPayloads, payloadFullOf } from "../support/heavy-payloads.ts";
import { hostilePayloads } from "../support/hostile-payloads.ts";
import { htmlTree } from "../support/html-tree.ts";

/** Largest message that Gmail shows whole is 102 KB; this leaves room for what a provider adds. */
const MAX_HTML_BYTES = 90_000;

/** As long as the settings allow, and all of it escaped. */
const OPTIONS = {
  appBaseUrl: `https://app.example.com/${"a".repeat(376)}`,
  unsubscribe: `mailto:sair@mail.example.com?subject=${"&".repeat(360)}`,
};

/** Each channel of `payloadFullOf` has as many figures and findings. */
const FIGURES = 30;
const FINDINGS = 12;
const CHANNELS = 5;

const bytesOf = (payload: Payload) => Buffer.byteLength(renderEmail(payload, OPTIONS).html);
const numbersBefore = (text: string, words: string) =>
  [...text.matchAll(new RegExp(`e mais (\\d+) ${words} no relatório completo`, "g"))].map(([, n]) =>
    Number(n),
  );

describe("the size of the e-mail", () => {
  test.each(['"', "&", "<", "漢", "𠀀", "👩‍👩‍👧‍👦", "a", "e\u0301"])(
    "stays below what mail clients clip with five channels full of %p",
    (character) => {
      expect(bytesOf(payloadFullOf(character))).toBeLessThan(MAX_HTML_BYTES);
    },
  );

  test("stays below that size whatever five channels contain, and whatever an attacker writes", () => {
    fc.assert(
      fc.property(fc.oneof(heavyPayloads, hostilePayloads), (payload) => {
        const { html } = renderEmail(payload, OPTIONS);
        expect(Buffer.byteLength(html)).toBeLessThan(MAX_HTML_BYTES);
        expect(() => htmlTree(html)).not.toThrow();
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ["a", 11, 4],
    ["漢", 7, 3],
    ["&", 3, 2],
    ['"', 0, 1],
  ])(
    "an e-mail of %p leaves %p small figures a card and %p findings a channel, and counts the others",
    (character, figures, findings) => {
      const { html, text } = renderEmail(payloadFullOf(character), OPTIONS);
      for (const part of [html, text]) {
        expect(numbersBefore(part, "números")).toEqual(Array(CHANNELS).fill(FIGURES - 3 - figures));
        expect(numbersBefore(part, "destaques")).toEqual([CHANNELS * (FINDINGS - findings)]);
      }
      expect(html.match(/<th scope="row"/g)?.length ?? 0).toBe(CHANNELS * figures);
    },
  );
});

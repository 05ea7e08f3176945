import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { escapeHtml } from "../../lib/text/escape.ts";
import { html } from "../../lib/text/html.ts";

const UNESCAPED = [
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#39;", "'"],
  ["&amp;", "&"],
] as const;

const readBack = (text: string) =>
  UNESCAPED.reduce((rest, [entity, character]) => rest.replaceAll(entity, character), text);

describe("escapeHtml()", () => {
  test("escapes the five characters once", () => {
    expect(escapeHtml(`"><script>alert('1')</script>&amp;`)).toBe(
      "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;",
    );
  });

  test("leaves no character with a meaning, and nothing is lost", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."&<>\"'a;#39ltgé") }), (text) => {
        const escaped = escapeHtml(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
        expect(readBack(escaped)).toBe(text);
      }),
    );
  });
});

describe("html``", () => {
  test("escapes what is text and keeps what is markup", () => {
    const name = html`<b title="${'"'}">${"<i>"}</b>`;
    expect(String(html`<p>${name}${[name, name]}${7}${null}</p>`)).toBe(
      `<p>${'<b title="&quot;">&lt;i&gt;</b>'.repeat(3)}7</p>`,
    );
  });

  test("takes a backslash as it is written", () => {
    expect(String(html`<p>\u0041${"\\"}</p>`)).toBe("<p>A\\</p>");
  });
});

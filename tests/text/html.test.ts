import { describe, expect, test } from "bun:test";
import fc from "fast-check";
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

describe("html``", () => {
  test("escapes the five characters once", () => {
    expect(String(html`${`"><script>alert('1')</script>&amp;`}`)).toBe(
      "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;",
    );
  });

  test("leaves no character with a meaning, and nothing is lost", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."&<>\"'a;#39ltgé") }), (text) => {
        const escaped = String(html`${text}`);
        expect(escaped).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
        expect(readBack(escaped)).toBe(text);
      }),
    );
  });

  test("escapes what is text and keeps what is markup", () => {
    const name = html`<b title="${'"'}">${"<i>"}</b>`;
    expect(String(html`<p>${name}${[name, name]}${7}${null}</p>`)).toBe(
      `<p>${'<b title="&quot;">&lt;i&gt;</b>'.repeat(3)}7</p>`,
    );
  });

  test("takes a backslash as it is written", () => {
    expect(String(html`<p>\u0041${"\\"}</p>`)).toBe("<p>A\\</p>");
  });

  test("takes no promise and no list of texts, and is no text itself", () => {
    // @ts-expect-error a promise would make the result one
    html`${Promise.resolve("x")}`;
    // @ts-expect-error a list of texts is joined by the caller
    html`${["<i>"]}`;
    // @ts-expect-error markup is no string: put together with one it would be escaped again
    const text: string = html`<b>`;
    expect(String(text)).toBe("<b>");
  });
});

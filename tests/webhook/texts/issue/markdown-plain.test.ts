import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { markdownPlain, markdownQuote } from "../../../../lib/webhook/texts/issue/markdown-plain.ts";

describe("markdownPlain()", () => {
  test.each([
    ["Proxy acima de 500 MiB (10%), vps-infra: ok!", "Proxy acima de 500 MiB (10%), vps-infra: ok!"],
    ["*a* _b_ `c` ~d~", "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~"],
    ["[a](b) ![c] {d} | e\\", "\\[a\\](b) !\\[c\\] \\{d\\} \\| e\\\\"],
    ["<b>&lt;", "&lt;b&gt;&amp;lt;"],
    ["@a b@c", "\uFF20a b\uFF20c"],
    ["https://a www.b.c 12:30", "https\\://a www\\.b.c 12:30"],
    ["- a - b", "\\- a - b"],
    ["12. a 3. b", "12\\. a 3. b"],
    ["12) a", "12\\) a"],
    ["a=1 ==b==", "a=1 \\=\\=b\\=\\="],
    ["", ""],
  ])("%p is %p", (line, markdown) => {
    expect(markdownPlain(line, 100)).toBe(markdown);
  });

  test("is shortened before it is escaped, within what was asked", () => {
    expect(markdownPlain("&&&&", 20)).toBe("&amp;&amp;&amp;&amp;");
    expect(markdownPlain("&&&&", 19)).toBe("&amp;&amp;…");
    expect(markdownPlain("***", 5)).toBe("\\*…");
    const line = fc.string({ unit: fc.constantFrom(..."*&<a-.1:/=@w ", "😀", "é") });
    fc.assert(
      fc.property(line, fc.nat(40), (text, maxUnits) => {
        const markdown = markdownPlain(text, maxUnits);
        expect(markdown.length).toBeLessThanOrEqual(maxUnits);
        expect(markdown.isWellFormed()).toBe(true);
        const read = Bun.markdown.html(`x ${markdown.replace(/^\\(?=[-.)])/, "")}`);
        expect(read).not.toMatch(/<(?!\/?p>)/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("markdownQuote()", () => {
  test("keeps every line in the quotation and a paragraph", () => {
    expect(markdownQuote(["a", "- b", "> c"], 100)).toBe("> a\n>\n> \\- b\n>\n> &gt; c");
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { codeBook, renderExplanations } from "../../lib/codes/explain.ts";
import { SOURCES } from "../../lib/metrics/sources.ts";
import { page } from "../support/documents.ts";

const codes = codeBook(page("docs/codes.md").text);

/** What stands between backticks, or alone, in the first column of the tables of docs/codes.md. */
const firstCells = page("docs/codes.md")
  .prose.split("\n")
  .filter((line) => /^\| (?:`|\d)/.test(line))
  .map((line) => line.split("|")[1]!.trim())
  .filter((cell) => cell !== "`cause`");
const words = firstCells.flatMap((cell) =>
  /^\d$/.test(cell) ? [cell] : [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!),
);

describe("codes", () => {
  test("explains every code of docs/codes.md", () => {
    expect(words.length).toBeGreaterThan(250);
    expect(words.filter((word) => codes.explain(word).length === 0)).toEqual([]);
  });

  test("lists every whole code of docs/codes.md, and nothing else", () => {
    const whole = new Set(words.filter((word) => /^\w+$/.test(word)));
    expect(codes.codes().map(({ code }) => code)).toEqual([...whole]);
  });

  test("says for every code what stands in its row", () => {
    for (const { code } of codes.codes()) {
      const rows = firstCells.filter((cell) => cell === code || cell.includes(`\`${code}\``));
      expect([code, codes.explain(code).length]).toEqual([code, rows.length]);
      for (const { meaning } of codes.explain(code)) expect(meaning.length).toBeGreaterThan(10);
    }
  });

  test.each([
    ["APP_HTTP_502", "Reports and analyses"],
    ["meta_250", "Deliveries"],
    ["gateway_http_403", "Deliveries"],
    ["SECRET_FILE_UNTRUSTED", "A run that did not begin or broke off"],
  ])("explains %s, of which docs/codes.md has the form", (code, section) => {
    expect(codes.explain(code).map((each) => each.section)).toContain(section);
  });

  test.each(SOURCES.map(({ name }) => name))("explains how the collector's source %s fails", (name) => {
    for (const code of [`${name}_timeout`, `${name}_failed`])
      expect(codes.explain(code).map((each) => each.section)).toContain("Host metrics and socket monitor");
  });

  test.each(["send_unknown", "gateway_aborted", "state_unavailable", "alert_unreadable", "issue_dead"])(
    "explains %s, which a row of the alert webhook may have from opsctl itself",
    (code) => {
      expect(codes.explain(code).map((each) => each.section)).toContain("The alert webhook");
    },
  );

  test.each([
    "APP_HTTP_9",
    "APP_HTTP_5020",
    "XAPP_HTTP_401",
    "app_http_401",
    "foo_timeout",
    "sockets_timeout ",
    "meta",
    "5",
    "",
    " ",
    "code",
    "…",
    ".*",
    "(",
    "DATABASE_URL",
    "opsctl migrate",
  ])("does not know %p", (word) => {
    expect(codes.explain(word)).toEqual([]);
  });

  test("knows no word that neither stands in the tables nor has one of their forms", () => {
    const forms = words.filter((word) => !/^\w+$/.test(word));
    const beginnings = forms.map((form) => form.split(/[<…]/)[0]!).filter((beginning) => beginning !== "");
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z_]{1,24}$/), (word) => {
        fc.pre(!words.includes(word));
        fc.pre(!beginnings.some((beginning) => word.startsWith(beginning)));
        expect(codes.explain(word)).toEqual([]);
      }),
    );
  });
});

describe("codeBook()", () => {
  const markdown = [
    "## One `x`",
    "",
    "| code | result | what |",
    "|---|---|---|",
    "| `a_b`, `a_…` (some) | found | see [below](#two) and [there](weekly.md#x), **not** *This* `code` |",
    "",
    "| name | code |",
    "|---|---|",
    "| `no_code` | `a_b` |",
    "",
    "## Two",
    "",
    "| `cause` | what |",
    "|---|---|",
    "| `m_<nn>`, `<status>_end` | bare |",
    "| `a_b` | again |",
  ].join("\n");
  const book = codeBook(markdown);

  test("takes the columns between code and meaning along, and makes links readable without the forge", () => {
    expect(book.explain("a_b")).toEqual([
      {
        section: "One x",
        codes: ["a_b", "a_…"],
        meaning:
          "result found: see below (docs/codes.md#two) and there (docs/weekly.md#x), **not** This `code`",
      },
      { section: "Two", codes: ["a_b"], meaning: "again" },
    ]);
  });

  test("reads forms: anything, an HTTP status, two digits", () => {
    const known = ["a_x", "404_end", "m_10", "m_99"];
    expect(known.filter((code) => book.explain(code).length === 0)).toEqual([]);
    const unknown = ["a_", "up_end", "999_end", "_end", "m_0", "m_100", "n_55", "m_5x", "no_code"];
    expect(unknown.filter((code) => book.explain(code).length > 0)).toEqual([]);
  });
});

test.each([60, 80])("renderExplanations() fits in %d columns, but for what cannot be broken", (width) => {
  expect(codes.codes().length).toBeGreaterThan(80);
  for (const { code } of codes.codes()) {
    const lines = renderExplanations(code, codes.explain(code), width).split("\n");
    expect(lines.filter((line) => line.length > width && line.trim().includes(" "))).toEqual([]);
  }
});

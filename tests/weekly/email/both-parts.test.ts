/** The plain part and the HTML part say the same, of every example. */
import { describe, expect, test } from "bun:test";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { PAYLOADS } from "../../fixtures/payloads.ts";
import { type Element, elementsIn, htmlTree, upwards, visibleText } from "../support/html-tree.ts";
import { showEmail } from "../support/shown-email.ts";

const REPORTS = Object.entries(PAYLOADS);

/** One spelling, so that only words differ: brackets and commas join a change and its percentage in different ways. */
const plain = (text: string) => text.toLowerCase().replaceAll(/[()]/g, "").replaceAll(/,?\s+/g, " ").trim();

/** A name and its value, which the HTML shows in two places; no other colon in a sentence. */
const COLON = /: (?=ainda sem|[\p{L} ]+ (?:no \p{L}+|dos e-mails): de )/u;

/** What each line of the plain part says: a name, a figure, a change, a sentence. */
function piecesOf(text: string): string[] {
  const lines = text.split("\n").filter((line) => !/^(=*|-- | *(https|mailto):.*)$/.test(line));
  return lines.flatMap((line) => {
    const figure = /^- ([^:]+): ([^(]+?)(?: \((.*)\))?$/.exec(line);
    if (figure !== null) return figure.slice(1).filter((piece) => piece !== undefined);
    const sentence = line.replace(/^(- |\d\. )|:$/g, "").replace(/ \((dados parciais|sem dados)\)$/, "");
    return sentence.split(COLON);
  });
}

/** The texts of the HTML, without those for the eyes only: signs, and the bars, whose words are an attribute. */
function textsIn(html: string): string[] {
  const isShown = (element: Element) =>
    [...upwards(element)].every(
      ({ tag, style, attributes }) =>
        tag !== "head" &&
        style.display !== "none" &&
        attributes["aria-hidden"] === undefined &&
        attributes.role !== "img",
    );
  return [...elementsIn(htmlTree(html))]
    .filter(isShown)
    .flatMap(({ children, attributes }) => [
      ...children.filter((child) => typeof child === "string"),
      ...(attributes.role === "img" ? [attributes["aria-label"]!] : []),
    ])
    .map((text) => plain(visibleText(text).replaceAll("&nbsp;", " ")))
    .filter((text) => /[\p{L}\p{N}]/u.test(text));
}

describe.each(REPORTS)("the two parts of the e-mail of the report %s", (_name, payload: Payload) => {
  const { html, text } = showEmail(payload);
  const bars = /<table role="img" aria-label="([^"]*)"/.exec(html)?.[1] ?? "";
  const page = plain(`${visibleText(html)} ${bars}`);

  test("say the same: the HTML has what the plain part says", () => {
    const said = piecesOf(text).map(plain);
    expect(said.filter((piece) => !page.includes(piece))).toEqual([]);
  });

  test("say the same: the plain part has what the HTML says", () => {
    const words = plain(text);
    expect(textsIn(html).filter((each) => !words.includes(each))).toEqual([]);
  });
});

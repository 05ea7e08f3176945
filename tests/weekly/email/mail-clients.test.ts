/**
 * What mail clients and screen readers need of the weekly e-mail.
 *
 * Source: caniemail.com (its data of June 2026, github.com/hteumeuleu/caniemail, `_features`), the pages named beside
 *         each rule, for Gmail, Outlook for Windows and Outlook.com;
 *         W3C, Web Content Accessibility Guidelines 2.2, 1.4.3 (contrast), 1.4.11 (contrast of shapes), 2.5.5 (size of
 *         a target) and 1.3.1 (structure).
 */
import { describe, expect, test } from "bun:test";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import { PAYLOADS } from "../../fixtures/payloads.ts";
import { contrast } from "../../support/contrast.ts";
import { declarations, type Element, elementsIn, htmlTree, upwards } from "../support/html-tree.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com", unsubscribe: "mailto:sair@mail.example.com" };

/** Tags that Gmail or Outlook for Windows drops, or that fetch. caniemail: html-svg, html-video, html-form, … */
const FORBIDDEN_TAGS = new Set([
  ...["script", "link", "img", "svg", "video", "audio", "iframe", "object", "embed", "picture", "canvas"],
  ...["form", "input", "button", "select", "textarea", "details", "dialog", "base", "map"],
]);

/**
 * Properties that Outlook for Windows or Gmail ignores in a way that breaks a page. caniemail: css-display-flex,
 * css-display-grid, css-position, css-float, css-background-image, css-transform, css-filter, css-object-fit,
 * css-variables, css-animation, css-columns, css-overflow.
 */
const FORBIDDEN_PROPERTIES =
  /^(position|top|left|right|bottom|float|flex.*|grid.*|gap|background|background-image|transform.*|filter|object-fit|animation.*|transition.*|columns?|clip.*|inset|z-index|--.*)$/;
const FORBIDDEN_VALUES =
  /flex|grid|url\(|var\(|calc\(|clamp\(|min\(|max\(|\d(?:vw|vh|rem|em)\b|rgba?\(|hsla?\(/;

/** Properties that Gmail and Outlook for Windows know, at least where they stand here. caniemail: css-<property>. */
const KNOWN_PROPERTIES = [
  ...[
    "background-color",
    "color",
    "display",
    "font-family",
    "font-size",
    "font-weight",
    "height",
    "letter-spacing",
  ],
  ...["line-height", "margin", "padding", "text-align", "text-decoration", "width", "word-break"],
  ...["mso-hide", "mso-line-height-rule", "mso-padding-alt"],
];

/** Properties that one of them ignores, and why the e-mail is whole without. */
const DISPENSABLE_PROPERTIES: Record<string, string> = {
  "border-radius": "corners are square in Outlook for Windows",
  "max-height": "of the preheader, which mso-hide hides from Outlook for Windows",
  "max-width": "Outlook for Windows has a table of 600 pixels around the column",
  overflow: "of the preheader, which mso-hide hides from Outlook for Windows",
  "overflow-wrap": "long words have word-break beside it; only a figure longer than its cell would widen it",
  "table-layout": "Outlook for Windows has the widths of cells",
  "white-space": "a value may break in two in Outlook for Windows",
  "-webkit-text-size-adjust": "for phones alone",
};

/** Where Outlook for Windows keeps a padding: cells alone. caniemail: css-padding ("not on p, div, a"). */
const PADDED = new Set(["td", "th"]);

/** What has a padding and looks right without it: Outlook has the cell's for the link, and a flat pill. */
const PADDED_ALL_THE_SAME = new Set(["a", "span"]);

/**
 * What a text has to find no further up than in its own cell: Outlook for Windows passes a font on from a cell to the
 * paragraphs in it, and not from a table to its cells. github.com/emailmonday/Cerberus, `cerberus-responsive.html`, is
 * tried in it and leaves out the sizes of paragraphs in a cell, never those of a cell in a table.
 */
const SAID_IN_CELL = ["font-size", "line-height", "color"];

/** Gmail shows no style sheet that is longer. caniemail: html-style ("16 KB", 8,192 characters each in older apps). */
const MAX_STYLE_SHEET = 8_192;

const MIN_CONTRAST = 4.5;
const MIN_CONTRAST_OF_SHAPES = 3;
const BLANK = /^(?:\s|&nbsp;)*$/;

/** The rules of the dark scheme, by class. */
function darkRules(html: string): Map<string, Record<string, string>> {
  const sheet = /@media \(prefers-color-scheme:dark\)\{\n([\s\S]*?)\n\}\n/.exec(html)![1]!;
  const rules = [...sheet.matchAll(/([^{}\n]+)\{([^}]*)\}/g)].flatMap(([, selectors, body]) =>
    selectors!.split(",").map((selector) => [selector.slice(1), declarations(body!)] as const),
  );
  return new Map(rules);
}

/** What an element says of a property, the dark scheme's word first. */
function said(element: Element, property: string, dark: Map<string, Record<string, string>> | null) {
  const classes = (element.attributes.class ?? "").split(" ");
  const inDark = classes.map((name) => dark?.get(name)?.[property]).find((value) => value !== undefined);
  return (inDark ?? element.style[property])?.replace("!important", "");
}

function nearest(
  element: Element,
  property: string,
  dark: Map<string, Record<string, string>> | null,
): string {
  for (const at of upwards(element)) {
    const value = said(at, property, dark);
    if (value !== undefined) return value;
  }
  throw new Error(`nothing says ${property} for <${element.tag}>`);
}

function textsOf(tree: Element): { element: Element; text: string }[] {
  return [...elementsIn(tree)].flatMap((element) => {
    const isHidden = [...upwards(element)].some(
      ({ style, tag }) => style.display === "none" || tag === "head",
    );
    const texts = element.children.filter((child) => typeof child === "string" && !BLANK.test(child));
    return isHidden ? [] : texts.map((text) => ({ element, text: text as string }));
  });
}

describe.each(Object.keys(PAYLOADS))("the e-mail of the report %s", (name) => {
  const { html } = renderEmail(PAYLOADS[name]!, OPTIONS);
  const tree = htmlTree(html);
  const all = [...elementsIn(tree)];

  test("is read by this test as tables, links and texts", () => {
    for (const kind of ["table", "td", "a"]) expect(all.map(({ tag }) => tag)).toContain(kind);
    expect(textsOf(tree).length).toBeGreaterThan(20);
  });

  test("uses nothing that Gmail or Outlook drops", () => {
    for (const { tag, style } of all) {
      expect(FORBIDDEN_TAGS.has(tag)).toBe(false);
      for (const [property, value] of Object.entries(style)) {
        expect(property).not.toMatch(FORBIDDEN_PROPERTIES);
        expect([...KNOWN_PROPERTIES, ...Object.keys(DISPENSABLE_PROPERTIES)]).toContain(property);
        expect(`${property}:${value}`).not.toMatch(FORBIDDEN_VALUES);
      }
    }
  });

  test("pads cells alone, and gives what Outlook measures as attributes, too", () => {
    for (const { tag, style, attributes } of all) {
      if (Object.entries(style).some(([property, value]) => property.startsWith("padding") && value !== "0"))
        expect(PADDED.has(tag) || PADDED_ALL_THE_SAME.has(tag)).toBe(true);
      if (tag === "a" && style.padding !== undefined) expect(style.display).toBe("block");
      if (tag !== "table") continue;
      expect(attributes).toMatchObject({ cellpadding: "0", cellspacing: "0", border: "0" });
      if (style.width === "100%") expect(attributes.width).toBe("100%");
    }
    const grounds = all.filter(({ tag, style }) => tag === "td" && style["background-color"] !== undefined);
    for (const { attributes, style } of grounds) expect(attributes.bgcolor).toBe(style["background-color"]!);
    expect(html).toContain('<!--[if mso]><table role="presentation" width="600"');
    expect(html).toContain("<o:PixelsPerInch>96</o:PixelsPerInch>");
    expect(html).toContain("mso-padding-alt:14px 28px");
  });

  test("has style sheets that Gmail keeps, and looks whole without them", () => {
    const sheets = [...html.replaceAll(/<!--[\s\S]*?-->/g, "").matchAll(/<style>([\s\S]*?)<\/style>/g)];
    expect(sheets).toHaveLength(3);
    for (const [, sheet] of sheets) expect(sheet!.length).toBeLessThan(MAX_STYLE_SHEET);
    // Gmail knows tags, classes, ids and widths; it drops the whole sheet over some of what it does not know.
    const inPhones = /^\n@media \(max-width:479px\)\{\n(?:\.[a-z-]+\{[^{}]*\}\n)+\}\n$/;
    expect(sheets[0]![1]).toMatch(inPhones);
    expect(sheets[1]![1]).not.toContain("[");
    for (const { element } of textsOf(tree))
      for (const property of ["font-size", "line-height", "color", "font-family"])
        nearest(element, property, null);
  });

  test("says in each cell how its texts look", () => {
    for (const { element, text } of textsOf(tree)) {
      const chain = [...upwards(element)];
      const inCell = chain.slice(0, chain.findIndex(({ tag }) => tag === "td" || tag === "th") + 1);
      for (const property of SAID_IN_CELL)
        expect({ text, property, said: inCell.some(({ style }) => property in style) }).toMatchObject({
          said: true,
        });
    }
  });

  test.each(["light", "dark"])("has texts that can be read, in %s", (scheme) => {
    const dark = scheme === "dark" ? darkRules(html) : null;
    for (const { element, text } of textsOf(tree)) {
      const [ink, ground] = ["color", "background-color"].map((property) => nearest(element, property, dark));
      expect({ text, ink, ground, enough: contrast(ink!, ground!) >= MIN_CONTRAST }).toMatchObject({
        enough: true,
      });
    }
  });

  test("has letters and buttons for a phone: 14 pixels and 44 pixels at least", () => {
    const pixels = (value = "") => value.match(/^(\d+)px/)?.[1] ?? "0";
    for (const { element, text } of textsOf(tree))
      expect({ text, large: Number(pixels(nearest(element, "font-size", null))) >= 14 }).toMatchObject({
        large: true,
      });
    // Two that lead to the report, and the one to stop these e-mails.
    const buttons = all.filter(({ tag, style }) => tag === "a" && style.display === "block");
    expect(buttons).toHaveLength(3);
    for (const button of buttons) {
      const height =
        2 * Number(pixels(button.style.padding)) + Number(pixels(nearest(button, "line-height", null)));
      expect(height).toBeGreaterThanOrEqual(44);
    }
  });

  test("can be heard: language, headings in order, tables that say what they are", () => {
    expect(all.find(({ tag }) => tag === "html")!.attributes.lang).toBe("pt-BR");
    const levels = all.map(({ tag }) => /^h(\d)$/.exec(tag)?.[1]).filter((level) => level !== undefined);
    expect(levels.filter((level) => level === "1")).toHaveLength(1);
    expect(levels[0]).toBe("1");
    levels.forEach((level, at) => {
      expect(Number(level)).toBeLessThanOrEqual(Number(levels[at - 1] ?? 0) + 1);
    });
    for (const { tag, attributes } of all) {
      if (tag === "table") expect(attributes.role ?? attributes["aria-label"]).toBeTruthy();
      if (attributes.role === "img") expect(attributes["aria-label"]).toBeTruthy();
      if (tag === "a") expect(attributes.href).toMatch(/^(https|mailto):/);
    }
    // A sign is for the eyes alone: words stand beside each.
    for (const { element, text } of textsOf(tree))
      if (/^[▲▼=] /.test(text)) expect(element.attributes["aria-hidden"]).toBe("true");
  });

  test("reads in the right order without styles", () => {
    const text = textsOf(tree)
      .map((each) => each.text)
      .join("\n");
    const parts = [
      ...["Seu desempenho semanal", "Leitura da semana", "Seus canais", "E-mail", "Instagram", "LinkedIn"],
      ...["Blog", "TikTok", "Próximos passos", "Enviado automaticamente"],
    ];
    let at = 0;
    for (const part of parts) {
      const place = text.indexOf(part, at);
      expect({ part, found: place >= at }).toEqual({ part, found: true });
      at = place;
    }
    expect(text).toContain("Parar de receber este resumo");
    expect(html.match(/>Ver relatório completo</g)).toHaveLength(2);
  });
});

test("the bars of the weeks stand out from their ground", () => {
  const tree = htmlTree(renderEmail(PAYLOADS.full!, OPTIONS).html);
  const bars = [...elementsIn(tree)].filter(
    ({ tag, attributes, parent }) =>
      tag === "td" && attributes.height !== undefined && parent?.parent?.attributes.width === "22",
  );
  expect(new Set(bars.map(({ attributes }) => attributes.bgcolor)).size).toBe(2);
  for (const bar of bars)
    expect(contrast(bar.attributes.bgcolor!, nearest(bar, "background-color", null))).toBeGreaterThanOrEqual(
      MIN_CONTRAST_OF_SHAPES,
    );
});

test("the contrast is that of the guidelines", () => {
  expect(contrast("#ffffff", "#000000")).toBe(21);
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
});

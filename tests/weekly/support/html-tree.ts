/** An e-mail's markup as a tree, with what each part is shown in. */

/** One element: its tag, attributes and inline styles, and what is in it. */
export type Element = {
  tag: string;
  attributes: Record<string, string>;
  style: Record<string, string>;
  parent: Element | null;
  children: (Element | string)[];
};

const VOID = new Set(["meta", "br", "hr", "img"]);
const PIECE =
  /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z:-]+="[^"<>]*")*)\s*>|((?:[^<>&]|&(?:amp|lt|gt|quot|nbsp|zwnj|#\d+);)+)/gy;

/**
 * The tree of a page, without comments and style sheets.
 *
 * Errors: throws at what mail clients could read in different ways: tags that do not balance and nest, attributes
 *         without quotes, a bare `<`, `>` or `&`.
 */
export function htmlTree(markup: string): Element {
  const root = elementOf("root", "", null);
  let open = root;
  let read = 0;
  const body = markup.replace(/^<!DOCTYPE html>\n|<!--[\s\S]*?-->|<style>[\s\S]*?<\/style>/g, "");
  for (const [piece, closing, tag, attributes, text] of body.matchAll(PIECE)) {
    read += piece.length;
    if (text !== undefined) open.children.push(text);
    else if (closing === "/") {
      if (open.parent === null || open.tag !== tag) throw new Error(`${piece} closes what is not open`);
      open = open.parent;
    } else {
      const element = elementOf(tag!, attributes!, open);
      open.children.push(element);
      if (!VOID.has(tag!)) open = element;
    }
  }
  if (read < body.length) throw new Error(`neither text nor tag: ${body.slice(read, read + 80)}`);
  if (open !== root) throw new Error(`never closed: ${open.tag}`);
  return root;
}

function elementOf(tag: string, text: string, parent: Element | null): Element {
  const pairs = [...text.matchAll(/([a-z:-]+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]);
  const attributes = Object.fromEntries(pairs) as Record<string, string>;
  return { tag, attributes, style: declarations(attributes.style ?? ""), parent, children: [] };
}

/** The declarations of a style, by property. */
export function declarations(style: string): Record<string, string> {
  const pairs = style.split(";").map((part) => part.split(/:(.*)/s).map((side) => side.trim()));
  return Object.fromEntries(
    pairs.filter(([name]) => name !== "").map(([name, value]) => [name!, value ?? ""]),
  );
}

/** Every element below this one, in the order of the page. */
export function* elementsIn(element: Element): Generator<Element> {
  for (const child of element.children) {
    if (typeof child === "string") continue;
    yield child;
    yield* elementsIn(child);
  }
}

/** An element and all that it is in, innermost first. */
export function* upwards(element: Element): Generator<Element> {
  for (let at: Element | null = element; at !== null; at = at.parent) yield at;
}

/** The text of `markup` as a reader sees it, without tags, entities read back. */
export function visibleText(markup: string): string {
  return markup
    .replace(/<!--[\s\S]*?-->|<style>[\s\S]*?<\/style>|<title>[\s\S]*?<\/title>|<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll("\u00a0", " ");
}

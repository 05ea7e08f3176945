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
const PIECE = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z:-]+="[^"]*")*)\s*>|([^<]+)/g;

/** The tree of a well-formed page, without comments and style sheets. */
export function htmlTree(markup: string): Element {
  const root = elementOf("root", "", null);
  let open = root;
  const body = markup.replace(/<!DOCTYPE html>|<!--[\s\S]*?-->|<style>[\s\S]*?<\/style>/g, "");
  for (const [, closing, tag, attributes, text] of body.matchAll(PIECE)) {
    if (text !== undefined) open.children.push(text);
    else if (closing === "/") open = open.parent!;
    else {
      const element = elementOf(tag!, attributes!, open);
      open.children.push(element);
      if (!VOID.has(tag!)) open = element;
    }
  }
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

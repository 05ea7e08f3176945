const VOID = new Set(["meta", "br", "hr", "img"]);
const TAG = /^<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z:-]+="[^"<>]*")*)\s*>/;
const TEXT = /^(?:[^<>&]|&(?:amp|lt|gt|quot|nbsp|zwnj|#\d+);)+/;

/**
 * Why mail clients could read `markup` in different ways; null when it is well-formed.
 *
 * Shape: tags balance and nest, attributes are quoted, no bare `<`, `>` or `&`; comments and the style sheet are
 *        taken as they are.
 */
export function malformation(markup: string): string | null {
  const open: string[] = [];
  let rest = markup
    .replace(/^<!DOCTYPE html>\n/, "")
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/<style>[\s\S]*?<\/style>/g, "");
  while (rest !== "") {
    const text = TEXT.exec(rest)?.[0];
    const [tag, closing, name] = TAG.exec(rest) ?? [];
    if (text === undefined && name === undefined) return `neither text nor tag: ${rest.slice(0, 80)}`;
    if (text === undefined && closing === "" && !VOID.has(name!)) open.push(name!);
    if (text === undefined && closing === "/" && open.pop() !== name)
      return `closes what is not open: ${rest.slice(0, 80)}`;
    rest = rest.slice((text ?? tag)!.length);
  }
  return open.length === 0 ? null : `never closed: ${open.join(" ")}`;
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

import type { PeerAnswer } from "../../platform/http/answer.ts";

/** What every page begins with, after blanks and a byte order mark: a tag, a declaration or a comment. */
const FIRST_TAG = /^[\s\uFEFF]*<[a-z!?]/i;

/**
 * Whether an answer is a page for people instead of the route's own: its type says so, or its body begins like one.
 *
 * Behaviour: a body that broke off or is too large is judged by its type alone.
 */
export function isPage({ headers, text }: Pick<PeerAnswer, "headers" | "text">): boolean {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  return type === "text/html" || type === "application/xhtml+xml" || FIRST_TAG.test(text ?? "");
}

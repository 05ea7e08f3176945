import type { PageFacts } from "./read-page.ts";
import { renderPage } from "./render-page.ts";
import { STYLE_SOURCE } from "./style.ts";

/** Nothing but the page's own style sheet and the picture in its tab; no frame, form or base of another page. */
const POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_SOURCE}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** The answer with the page; 503 while the state does not answer. */
export function pageAnswer(facts: PageFacts): Response {
  const status = facts.state === null ? 503 : 200;
  return new Response(renderPage(facts).toString(), { status, headers: HEADERS });
}

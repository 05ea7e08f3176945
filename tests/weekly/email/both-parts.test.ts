import { expect, test } from "bun:test";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import { emailView } from "../../../lib/weekly/email/view.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { PAYLOADS } from "../../fixtures/payloads.ts";
import { visibleText } from "../support/well-formed.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com", unsubscribe: null };

test.each(Object.entries(PAYLOADS))(
  "a text of the report %s stands in the HTML and in the plain part, or in none",
  (_name, payload: Payload) => {
    const { html, text } = renderEmail(payload, OPTIONS);
    const [page, plain] = [wordsOf(visibleText(html)), wordsOf(text)];
    const texts = textsOf(sharedView(payload)).map(wordsOf);
    expect(texts.filter((one) => page.includes(one) && !plain.includes(one))).toEqual([]);
    expect(texts.filter((one) => plain.includes(one) && !page.includes(one))).toEqual([]);
  },
);

/** Without what only one part has: the line of an inbox, the bars, which the plain part lists, and addresses. */
function sharedView(payload: Payload): object {
  const { preheader: _preheader, scoreWeeks: _bars, ...shared } = emailView(payload, OPTIONS);
  return shared;
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("https:") ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function wordsOf(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ");
}

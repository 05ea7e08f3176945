import { Buffer } from "node:buffer";
import type { Payload } from "../payload.ts";
import { emailDocument } from "./html/document.ts";
import { renderEmailText } from "./text.ts";
import { type Detail, type EmailOptions, type EmailView, emailView, FULL_DETAIL } from "./view.ts";

/** A message with both of its parts. */
export type RenderedEmail = { subject: string; html: string; text: string };

/** Gmail clips a message at 102 KB; this leaves room for what a provider adds. */
const MAX_HTML_BYTES = 90_000;

/**
 * How much is shown where all of it is too much, most first.
 *
 * Behaviour: every list and text is bounded, but a character takes up to six bytes once it is escaped. The last level
 *            fits whatever the payload holds.
 */
const LESS_DETAIL: readonly Detail[] = [
  { figures: 7, readings: 3 },
  { figures: 3, readings: 2 },
  { figures: 0, readings: 1 },
];

/**
 * The weekly e-mail of a report: a subject, an HTML part and a plain part with the same content.
 *
 * Behaviour: the same payload gives the same bytes, in whatever order its keys are; no clock, no locale, no network.
 *            Every value from the payload is escaped. The HTML stays below the size at which mail clients clip: where
 *            it would not, both parts show less of each card and channel, and say how much more the full report has.
 * Source:    weekly report document, Email contract.
 */
export function renderEmail(payload: Payload, options: EmailOptions): RenderedEmail {
  const { view, html } = fitting(payload, options);
  return { subject: view.subject, html, text: renderEmailText(view) };
}

function fitting(payload: Payload, options: EmailOptions): { view: EmailView; html: string } {
  let fit = layOut(payload, options, FULL_DETAIL);
  for (const detail of LESS_DETAIL) {
    if (Buffer.byteLength(fit.html) < MAX_HTML_BYTES) break;
    fit = layOut(payload, options, detail);
  }
  return fit;
}

function layOut(payload: Payload, options: EmailOptions, detail: Detail): { view: EmailView; html: string } {
  const view = emailView(payload, options, detail);
  return { view, html: emailDocument(view).toString() };
}

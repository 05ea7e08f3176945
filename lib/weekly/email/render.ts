import type { Payload } from "../payload.ts";
import { emailDocument } from "./document.ts";
import { renderEmailText } from "./text.ts";
import { type EmailOptions, emailView } from "./view.ts";

/** A message with both of its parts. */
export type RenderedEmail = { subject: string; html: string; text: string };

/**
 * The weekly e-mail of a report: a subject, an HTML part and a plain part with the same content.
 *
 * Behaviour: the same payload gives the same bytes, in whatever order its keys are; no clock, no locale, no network.
 *            Every value from the payload is escaped, and the HTML stays below the size at which mail clients clip.
 * Source:    weekly report document, Email contract.
 */
export function renderEmail(payload: Payload, options: EmailOptions): RenderedEmail {
  const view = emailView(payload, options);
  return { subject: view.subject, html: emailDocument(view).toString(), text: renderEmailText(view) };
}

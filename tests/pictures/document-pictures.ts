/** The pictures of the documents: a report at the top and whole, as a phone with two pixels for one shows it. */
import type { View } from "../support/chromium.ts";
import { photographs } from "./weekly-pictures.ts";

const PHONE: View = { width: 360, scheme: "light", scale: 2 };

/** Letters stay sharp. */
const QUALITY = 85;

/** What each picture shows; `height` is where it ends, in pixels of the page. */
const SHOWN = [
  { name: "weekly-email.webp", report: "full", view: PHONE, height: 760 },
  { name: "weekly-email-cards.webp", report: "only-email", view: PHONE, height: 1_480 },
  { name: "weekly-email-dark.webp", report: "score-drop", view: { ...PHONE, scheme: "dark" }, height: 760 },
  { name: "weekly-email-first.webp", report: "first-week", view: PHONE, height: 760 },
] as const;

/** Photographs what the documents show. */
export async function* documentPictures(
  program: string,
  font: string,
): AsyncGenerator<{ name: string; file: Buffer }> {
  for (const { name, report, view, height: maxHeight } of SHOWN) {
    const options = { reports: [report], looks: [view], maxHeight, quality: QUALITY };
    for await (const { file } of photographs(program, font, options)) yield { name, file };
  }
}

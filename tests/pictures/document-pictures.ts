/** The pictures of the documents: a report at the top and whole, as a phone with two pixels for one shows it. */
import type { View } from "../support/chromium.ts";
import { encodePng, type Picture } from "../support/png.ts";
import { photographs } from "./weekly-pictures.ts";

const PHONE: View = { width: 360, scheme: "light", scale: 2 };

/** What each picture shows; `height` is where it ends, in pixels of the page. */
const SHOWN = [
  { name: "weekly-email.png", report: "full", view: PHONE, height: 760 },
  { name: "weekly-email-cards.png", report: "only-email", view: PHONE, height: 1_480 },
  { name: "weekly-email-dark.png", report: "score-drop", view: { ...PHONE, scheme: "dark" }, height: 760 },
  { name: "weekly-email-first.png", report: "first-week", view: PHONE, height: 760 },
] as const;

/** Photographs what the documents show. */
export async function* documentPictures(
  program: string,
  font: string,
): AsyncGenerator<{ name: string; file: Buffer }> {
  for (const { name, report, view, height } of SHOWN) {
    for await (const { picture } of photographs(program, font, { reports: [report], looks: [view] }))
      yield { name, file: encodePng(top(picture, 2 * height)) };
  }
}

function top({ width, colours }: Picture, height: number): Picture {
  return { width, height, colours: colours.slice(0, width * height) };
}

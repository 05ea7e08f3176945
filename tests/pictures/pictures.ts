/** What the kept pictures and those of the documents show, and how they are drawn. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { renderPage } from "../../lib/webhook/page/render.ts";
import { renderEmail } from "../../lib/weekly/email/render.ts";
import { PAYLOADS } from "../fixtures/payloads.ts";
import { type ShownPage, startChromium, type View } from "../support/chromium.ts";
import { PICTURE_FAMILIES } from "../support/picture-font.ts";
import { alertPicture } from "./alert-picture.ts";
import { busyNight } from "./busy-night.ts";

/** The repository. */
export const ROOT = join(import.meta.dirname, "../..");
/** The folder of the kept pictures. */
export const KEPT_FOLDER = join(ROOT, "tests/golden/pictures");

/** A picture: its file, the page that it shows (HTML, or SVG), how it is looked at and where it ends. */
export type Picture = {
  file: string;
  page: () => string;
  view: View;
  maxHeight: number;
  quality: number;
};

/** An alert as the golden message of it, drawn as WhatsApp shows it. */
export function goldenAlert(): string {
  return alertPicture(readFileSync(join(ROOT, "tests/golden/webhook/grafana-firing.whatsapp.txt"), "utf8"));
}

/** The HTML part of the e-mail of one of the examples. */
export function emailPage(report: string): string {
  const options = { appBaseUrl: "https://app.example.com" };
  return renderEmail(PAYLOADS[report]!, { ...options, unsubscribe: "mailto:sair@mail.example.com" }).html;
}

const WHOLE = { maxHeight: 4_000, quality: 50 };
const LIGHT: View = { width: 360, scheme: "light", scale: 1 };
const DARK: View = { width: 640, scheme: "dark", scale: 1 };

/** The pictures that tests/pictures/pictures.test.ts compares, for a person to judge. */
export const KEPT: readonly Picture[] = [
  { file: "email-light.webp", page: () => emailPage("full"), view: LIGHT, ...WHOLE },
  { file: "email-dark.webp", page: () => emailPage("score-drop"), view: DARK, ...WHOLE },
  { file: "webhook-page.webp", page: () => renderPage(busyNight()).toString(), view: LIGHT, ...WHOLE },
  { file: "alert.webp", page: goldenAlert, view: LIGHT, ...WHOLE },
];

/** A phone with two pixels for one; letters stay sharp. */
const PHONE: View = { width: 360, scheme: "light", scale: 2 };
const SHARP = 85;
const HEAD = 760;

/** The pictures of the documents, beside that of the alert, which is no photograph. */
export const SHOWN_IN_DOCUMENTS: readonly Picture[] = (
  [
    ["weekly-email.webp", "full", PHONE, HEAD],
    ["weekly-email-cards.webp", "only-email", PHONE, 1_480],
    ["weekly-email-dark.webp", "score-drop", { ...PHONE, scheme: "dark" }, HEAD],
    ["weekly-email-first.webp", "first-week", PHONE, HEAD],
  ] as const
).map(([file, report, view, maxHeight]) => ({
  ...{ file, view, maxHeight, quality: SHARP },
  page: () => emailPage(report),
}));

/** A browser that photographs pages in the fonts of the pictures. */
export type Photographer = {
  show(page: string, view: View): Promise<ShownPage>;
  photograph(picture: Picture): Promise<{ taken: Buffer; page: ShownPage }>;
  stop(): Promise<void>;
};

/** Starts the browser `program`; `font` is a style sheet with the fonts. */
export async function startPhotographer(program: string, font: string): Promise<Photographer> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-pictures-"));
  const browser = await startChromium(program);
  const show: Photographer["show"] = async (page, view) => {
    const file = join(folder, "page.html");
    writeFileSync(file, inFont(page, font));
    const shown = await browser.show(pathToFileURL(file).href, view);
    await shown.evaluate("document.fonts.ready.then(() => 0)");
    return shown;
  };
  return {
    show,
    async photograph({ page, view, maxHeight, quality }) {
      const shown = await show(page(), view);
      return { taken: await shown.picture({ format: "webp", maxHeight, quality }), page: shown };
    },
    async stop() {
      await browser.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const SVG_HEAD = `<!DOCTYPE html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>`;

/** The page with the fonts of the pictures before all others; an SVG becomes the only content of one. */
function inFont(page: string, font: string): string {
  const whole = page.startsWith("<svg") ? `${SVG_HEAD}<body style="margin:0">${page}</body></html>` : page;
  return whole
    .replaceAll(/(?:system-ui,)?-apple-system/g, PICTURE_FAMILIES.join(","))
    .replace("</head>", `${font}</head>`);
}

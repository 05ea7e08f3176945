/** Pictures of the weekly e-mail as a phone and a wider screen show it, in both colour schemes. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ShownPage, startChromium, type View } from "../support/chromium.ts";
import { debianPackages } from "../support/debian-packages.ts";

const GOLDEN = join(import.meta.dirname, "../golden/weekly");

/** Where the kept pictures are. */
export const PICTURES = join(GOLDEN, "pictures");

/** The reports that are photographed, by the names of their golden files. */
export const PHOTOGRAPHED = [
  ...["full", "empty", "first-week", "after-gap", "score-drop", "score-zero"],
  ...["second-tenant", "hostile", "huge", "network-failed", "only-email", "only-linkedin"],
] as const;

/** How each of them is looked at. */
export const LOOKS: readonly View[] = [360, 640].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, scheme, scale: 1 })),
);

/** Lower than this a picture repeats itself: only a report of huge lists is longer. */
const MAX_HEIGHT = 3_200;

/** Enough to see what has moved; the comparison looks at blocks of pixels. */
const QUALITY = 35;

/** The mark of each report whose kept pictures are well: drawn of this page, nothing wider than the screen. */
export const MARKS = join(import.meta.dirname, "picture-marks.json");

/** A mark of a report's page, how it is photographed, and the kept pictures. */
export function pictureMark(report: string): string {
  const mark = createHash("sha256").update(JSON.stringify([LOOKS, MAX_HEIGHT, QUALITY, NARROWEST]));
  const pictures = LOOKS.map((look) => join(PICTURES, pictureName(report, look)));
  for (const file of [goldenPage(report), ...pictures]) mark.update(readFileSync(file));
  return mark.digest("hex");
}

function goldenPage(report: string): string {
  return join(GOLDEN, `${report}.email.html`);
}

/** The reports of which a page or a picture is another than at these marks. */
export function reportsChangedSince(marks: Record<string, string>): string[] {
  return PHOTOGRAPHED.filter((report) => marks[report] !== pictureMark(report));
}

/** The file name of a picture. */
export function pictureName(report: string, { width, scheme }: View): string {
  return `${report}.${width}.${scheme}.webp`;
}

/** The narrowest screen that an e-mail has to fit on. */
const NARROWEST = 320;

/**
 * A picture of a report, and the page that it was taken of. `overhang` is by how much something is wider than the
 * screen, a phone's being the narrowest.
 */
export type Photograph = { name: string; file: Buffer; overhang: number; page: ShownPage };

/** What is photographed, and how. */
export type PhotographOptions = {
  reports: readonly string[];
  looks: readonly View[];
  maxHeight: number;
  quality: number;
};

const ALL: PhotographOptions = {
  reports: PHOTOGRAPHED,
  looks: LOOKS,
  maxHeight: MAX_HEIGHT,
  quality: QUALITY,
};

/**
 * The fonts of the pictures, in Debian packages: in another font lines break elsewhere. The second has what the first
 * lacks, such as the arrows; else the browser would take a font of the machine's for these.
 */
const FONTS = [
  {
    package: "fonts-roboto-unhinted",
    folder: "usr/share/fonts/truetype/roboto/unhinted/RobotoTTF",
    files: { 400: "Roboto-Regular.ttf", 700: "Roboto-Bold.ttf" },
  },
  {
    package: "fonts-dejavu-core",
    folder: "usr/share/fonts/truetype/dejavu",
    files: { 400: "DejaVuSans.ttf", 700: "DejaVuSans-Bold.ttf" },
  },
];
const FAMILIES = FONTS.map((_, index) => `Picture${index + 1}`);

/** A style sheet that holds the fonts of the pictures, the first on many phones; null where one cannot be had. */
export function pictureFont(): string | null {
  const faces = FONTS.map((font, index) => {
    const has = (root: string) => existsSync(join(root, font.folder, font.files[400]));
    const root = has("/") ? "/" : debianPackages(`debian/${font.package}`, () => [font.package]);
    if (root === null || !has(root)) return null;
    return Object.entries(font.files).map(([weight, file]) => {
      const data = readFileSync(join(root, font.folder, file)).toString("base64");
      return `@font-face{font-family:${FAMILIES[index]};font-weight:${weight};src:url(data:font/ttf;base64,${data})}`;
    });
  });
  return faces.includes(null) ? null : `<style>${faces.flat().join("\n")}</style>`;
}

/** Photographs golden e-mails, one browser for all of them. */
export async function* photographs(
  program: string,
  font: string,
  options: Partial<PhotographOptions> = {},
): AsyncGenerator<Photograph> {
  const { reports, looks, ...taken } = { ...ALL, ...options };
  const folder = mkdtempSync(join(tmpdir(), "opsctl-pictures-"));
  const browser = await startChromium(program);
  try {
    for (const report of reports) {
      const file = join(folder, `${report}.html`);
      writeFileSync(file, inFont(readFileSync(goldenPage(report), "utf8"), font));
      const page = await browser.show(pathToFileURL(file).href, looks[0]!);
      for (const view of looks) yield await photograph(page, { report, view, taken });
    }
  } finally {
    await browser.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function photograph(
  page: ShownPage,
  {
    report,
    view,
    taken,
  }: { report: string; view: View; taken: Pick<PhotographOptions, "maxHeight" | "quality"> },
): Promise<Photograph> {
  const width = view.width < 480 ? NARROWEST : view.width;
  await page.look({ ...view, width });
  const overhang = await page.evaluate<number>(
    `document.fonts.ready.then(() => document.documentElement.scrollWidth - ${width})`,
  );
  await page.look(view);
  const file = await page.picture({ format: "webp", ...taken });
  return { name: pictureName(report, view), file, overhang, page };
}

/** The page with the pictures' fonts before all others. */
function inFont(page: string, font: string): string {
  return page
    .replaceAll("font-family:-apple-system", `font-family:${FAMILIES.join(",")}`)
    .replace("</head>", `${font}</head>`);
}

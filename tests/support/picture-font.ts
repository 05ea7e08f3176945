import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { debianPackages } from "./debian-packages.ts";

/**
 * The fonts of the pictures, in Debian packages: in another font lines break elsewhere. The second has what the first
 * lacks, such as the arrows; else the browser would use a font of the machine for these.
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

/** The families that the style sheet of `pictureFont` defines, in the order in which a page should name them. */
export const PICTURE_FAMILIES: readonly string[] = FONTS.map((_, index) => `Picture${index + 1}`);

/** A style sheet that contains the fonts of the pictures; null where one of them cannot be had. */
export function pictureFont(): string | null {
  const faces = FONTS.map((font, index) => {
    const has = (root: string) => existsSync(join(root, font.folder, font.files[400]));
    const root = has("/") ? "/" : debianPackages(`debian/${font.package}`, () => [font.package]);
    if (root === null || !has(root)) return null;
    return Object.entries(font.files).map(([weight, file]) => {
      const data = readFileSync(join(root, font.folder, file)).toString("base64");
      return `@font-face{font-family:${PICTURE_FAMILIES[index]};font-weight:${weight};src:url(data:font/ttf;base64,${data})}`;
    });
  });
  return faces.includes(null) ? null : `<style>${faces.flat().join("\n")}</style>`;
}

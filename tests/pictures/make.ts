/**
 * Makes the pictures of the documents and of the tests again, from golden texts: the alert always, the e-mails when
 * `CHROMIUM` names a headless Chromium.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { alertPicture } from "./alert-picture.ts";
import { documentPictures } from "./document-pictures.ts";
import {
  LOOKS,
  MARKS,
  PHOTOGRAPHED,
  PICTURES,
  photographs,
  pictureFont,
  pictureMark,
  pictureName,
} from "./weekly-pictures.ts";

const ROOT = join(import.meta.dirname, "../..");
const IMAGES = join(ROOT, "docs/images");

const message = readFileSync(join(ROOT, "tests/golden/webhook/grafana-firing.whatsapp.txt"), "utf8");
writeFileSync(join(IMAGES, "alert.svg"), alertPicture(message));
shown("alert.svg");

const chromium = process.env.CHROMIUM ?? "";
const font = pictureFont();
if (chromium === "") console.log("The e-mails are left as they are: CHROMIUM names no headless Chromium");
else if (font === null) console.log("The e-mails are left as they are: their font cannot be had");
else await photographAll(chromium, font);

async function photographAll(program: string, face: string): Promise<void> {
  rmSync(PICTURES, { recursive: true, force: true });
  mkdirSync(PICTURES, { recursive: true });
  let bytes = 0;
  const tooWide: string[] = [];
  for await (const { name, file, overhang } of photographs(program, face)) {
    bytes += file.length;
    if (overhang > 0) tooWide.push(name);
    writeFileSync(join(PICTURES, name), file);
  }
  const good = PHOTOGRAPHED.filter(
    (report) => !LOOKS.some((look) => tooWide.includes(pictureName(report, look))),
  );
  const marks = Object.fromEntries(good.map((report) => [report, pictureMark(report)]));
  writeFileSync(MARKS, `${JSON.stringify(marks, null, 2)}\n`);
  console.log(`tests/golden/weekly/pictures: ${Math.ceil(bytes / 1024)} KiB`);
  for await (const { name, file } of documentPictures(program, face)) {
    writeFileSync(join(IMAGES, name), file);
    shown(name);
  }
}

function shown(image: string): void {
  console.log(`docs/images/${image}: ${Math.ceil(statSync(join(IMAGES, image)).size / 1024)} KiB`);
}

/**
 * Draws the pictures of the documents and of the tests again: the alert always, the photographs when `CHROMIUM` names
 * a headless Chromium.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { pictureFont } from "../support/picture-font.ts";
import { goldenAlert, KEPT, KEPT_FOLDER, ROOT, SHOWN_IN_DOCUMENTS, startPhotographer } from "./pictures.ts";

const IMAGES = join(ROOT, "docs/images");

write(join(IMAGES, "alert.svg"), goldenAlert());

const chromium = process.env.CHROMIUM ?? "";
const font = pictureFont();
if (chromium === "") console.log("The photographs are left as they are: CHROMIUM names no headless Chromium");
else if (font === null) console.log("The photographs are left as they are: their font cannot be had");
else await photographAll(chromium, font);

async function photographAll(program: string, face: string): Promise<void> {
  mkdirSync(KEPT_FOLDER, { recursive: true });
  const photographer = await startPhotographer(program, face);
  for (const [folder, pictures] of [
    [KEPT_FOLDER, KEPT],
    [IMAGES, SHOWN_IN_DOCUMENTS],
  ] as const)
    for (const picture of pictures)
      write(join(folder, picture.file), (await photographer.photograph(picture)).taken);
  await photographer.stop();
}

function write(path: string, content: string | Buffer): void {
  writeFileSync(path, content);
  console.log(`${relative(ROOT, path)}: ${Math.ceil(statSync(path).size / 1024)} KiB`);
}

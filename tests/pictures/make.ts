/**
 * Makes the pictures of the README again, from golden texts: the alert always, the e-mail when `CHROMIUM` names a
 * headless Chromium.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { alertPicture } from "./alert-picture.ts";

const ROOT = join(import.meta.dirname, "../..");
const IMAGES = join(ROOT, "docs/images");

const message = readFileSync(join(ROOT, "tests/golden/webhook/grafana-firing.whatsapp.txt"), "utf8");
writeFileSync(join(IMAGES, "alert.svg"), alertPicture(message));
shown("alert.svg");

const chromium = process.env.CHROMIUM ?? "";
if (chromium === "") console.log("The e-mail is left as it is: CHROMIUM names no headless Chromium");
else photograph(chromium, "tests/golden/weekly/full.email.html", "weekly-email.png");

/** The top of a page as a phone of 360 by 760 pixels shows it. */
function photograph(program: string, page: string, image: string): void {
  const { status, stderr } = spawnSync(program, [
    ...["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
    ...["--force-device-scale-factor=2", "--window-size=360,760"],
    ...[`--screenshot=${join(IMAGES, image)}`, `file://${join(ROOT, page)}`],
  ]);
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  shown(image);
}

function shown(image: string): void {
  console.log(`docs/images/${image}: ${Math.ceil(statSync(join(IMAGES, image)).size / 1024)} KiB`);
}

/** The e-mails as a browser shows them, compared with kept pictures. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  LOOKS,
  PHOTOGRAPHED,
  type Photograph,
  PICTURES,
  photographs,
  pictureFont,
  pictureName,
} from "../../pictures/weekly-pictures.ts";
import { findChromium } from "../../support/chromium.ts";
import { pictureDifference } from "../../support/picture-difference.ts";
import { decodePng, encodePng } from "../../support/png.ts";

// One start of the browser for all pictures; the first of them waits for it.
setDefaultTimeout(120_000);

/** `make pictures CHROMIUM=…` writes the files anew; look at them before committing. */
const MAX_FOLDER_BYTES = 2_600_000;

/** The share of a picture that may differ: another build of the browser draws letters a little differently. */
const MAX_SHARE = 0.002;

const program = findChromium();
const font = program === null ? null : pictureFont();

const kept = (name: string) => decodePng(readFileSync(join(PICTURES, name)));

test("there is a picture of each report at each width and scheme, and they are small", () => {
  const names = PHOTOGRAPHED.flatMap((report) => LOOKS.map((look) => pictureName(report, look)));
  expect(readdirSync(PICTURES).toSorted()).toEqual(names.toSorted());
  const bytes = names.reduce((sum, name) => sum + statSync(join(PICTURES, name)).size, 0);
  expect(bytes).toBeLessThan(MAX_FOLDER_BYTES);
});

test("a picture keeps size and colours when it is written and read", () => {
  const colours = Uint32Array.from({ length: 35 }, (_, i) => i * 0x040404);
  const picture = { width: 7, height: 5, colours };
  expect(decodePng(encodePng(picture))).toEqual(picture);
});

test("pictures differ by what is of another colour, and wholly when their sizes differ", () => {
  const white = { width: 40, height: 20, colours: new Uint32Array(800).fill(0xffffff) };
  const stroke = white.colours.map((colour, at) => (at % 40 < 4 ? 0xff0000 : colour));
  expect(pictureDifference(white, white)).toBe(0);
  expect(pictureDifference(white, { ...white, colours: stroke })).toBeCloseTo(0.1, 6);
  expect(pictureDifference(white, { ...white, colours: white.colours.with(3, 0xbbbbbb) })).toBe(0);
  expect(pictureDifference(white, { ...white, width: 20, height: 40 })).toBe(1);
});

if (program === null) test.skip("the pictures: not compared, there is no Chromium", () => {});
else if (font === null) test.skip("the pictures: not compared, their font cannot be had", () => {});
else
  describe("the picture", () => {
    const shots = photographs(program, font);
    const next = async () => (await shots.next()).value as Photograph;
    afterAll(async () => {
      await shots.return(undefined);
    });

    const names = PHOTOGRAPHED.flatMap((report) => LOOKS.map((look) => pictureName(report, look)));
    test.each(names)("%s is the kept one, and nothing in it is wider than the screen", async (name) => {
      const shot = await next();
      expect(shot.name).toBe(name);
      expect(shot.overhang).toBe(0);
      expect(pictureDifference(shot.picture, kept(name))).toBeLessThan(MAX_SHARE);
    });
  });

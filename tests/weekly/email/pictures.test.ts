/** The e-mails as a browser shows them, compared with kept pictures. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  LOOKS,
  MARKS,
  PHOTOGRAPHED,
  type Photograph,
  PICTURES,
  photographs,
  pictureFont,
  pictureName,
  reportsChangedSince,
} from "../../pictures/weekly-pictures.ts";
import { findChromium } from "../../support/chromium.ts";
import { pictureDifference } from "../../support/picture-difference.ts";

// One start of the browser for all pictures; the first of them waits for it.
/** `make pictures CHROMIUM=…` writes the files anew; look at them before committing. */
const MAX_FOLDER_BYTES = 2_800_000;

/** The share of a picture that may differ: another build of the browser draws letters a little differently. */
const MAX_SHARE = 0.002;

const program = findChromium();
const font = program === null ? null : pictureFont();

/** A browser draws the same page the same way; one report is always drawn, for the sake of another browser. */
const changed = reportsChangedSince(JSON.parse(readFileSync(MARKS, "utf8")));
const drawn = [...new Set([...changed, PHOTOGRAPHED[0]])];

const kept = (name: string) => readFileSync(join(PICTURES, name));

test("there is a picture of each report at each width and scheme, and they are small", () => {
  const names = PHOTOGRAPHED.flatMap((report) => LOOKS.map((look) => pictureName(report, look)));
  expect(readdirSync(PICTURES).toSorted()).toEqual(names.toSorted());
  const bytes = names.reduce((sum, name) => sum + statSync(join(PICTURES, name)).size, 0);
  expect(bytes).toBeLessThan(MAX_FOLDER_BYTES);
});

if (program === null) test.skip("the pictures: not compared, there is no Chromium", () => {});
else if (font === null) test.skip("the pictures: not compared, their font cannot be had", () => {});
else
  describe("the picture", () => {
    const shots = photographs(program, font, { reports: drawn });
    const next = async () => (await shots.next()).value as Photograph;
    afterAll(async () => {
      await shots.return(undefined);
    });

    const names = drawn.flatMap((report) => LOOKS.map((look) => pictureName(report, look)));
    test.each(names)("%s is the kept one, and nothing in it is wider than the screen", async (name) => {
      const shot = await next();
      expect(shot.name).toBe(name);
      expect(shot.overhang).toBe(0);
      expect(await pictureDifference(shot.page, [shot.file, kept(name)])).toBeLessThan(MAX_SHARE);
    });
  });

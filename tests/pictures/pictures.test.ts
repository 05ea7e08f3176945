/** What people see, as a browser shows it: compared with four kept pictures, and never wider than a phone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PAYLOADS } from "../fixtures/payloads.ts";
import { findChromium } from "../support/chromium.ts";
import { pictureDifference } from "../support/picture-difference.ts";
import { pictureFont } from "../support/picture-font.ts";
import { requires } from "../support/requires.ts";
import { emailPage, KEPT, KEPT_FOLDER, type Photographer, startPhotographer } from "./pictures.ts";

/** The share of a picture that may differ: another build of the browser draws letters a little differently. */
const MAX_SHARE = 0.002;

/** The narrowest screen that an e-mail has to fit on. */
const NARROWEST = { width: 320, scheme: "light" } as const;

test("a picture is kept of the e-mail in both schemes, of the webhook's page and of an alert", () => {
  // `make pictures CHROMIUM=…` draws them again; look at them before committing.
  expect(readdirSync(KEPT_FOLDER).toSorted()).toEqual(KEPT.map(({ file }) => file).toSorted());
});

const inBrowser = requires("chromium", "fonts");

inBrowser.describe("in a browser", () => {
  let photographer: Photographer;
  beforeAll(async () => {
    photographer = await startPhotographer(findChromium()!, pictureFont()!);
  });
  afterAll(() => photographer.stop());

  test.each(KEPT.map((picture) => [picture.file, picture] as const))(
    "%s looks like the kept picture",
    async (file, picture) => {
      const { taken, page } = await photographer.photograph(picture);
      const kept = readFileSync(join(KEPT_FOLDER, file));
      expect(await pictureDifference(page, [taken, kept])).toBeLessThan(MAX_SHARE);
    },
  );

  test.each(Object.keys(PAYLOADS))("the e-mail of the report %s is no wider than a phone", async (report) => {
    const page = await photographer.show(emailPage(report), NARROWEST);
    const width = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(width).toBe(NARROWEST.width);
  });
});

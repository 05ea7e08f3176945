import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { alertFixtures, goldenParts, hashOfAllTexts } from "./support/golden-parts.ts";

// `UPDATE_GOLDEN=1 make test ONLY=tests/webhook/golden.test.ts` writes the files anew; read the difference before committing.
const UPDATE = process.env.UPDATE_GOLDEN === "1";
const FOLDER = new URL("../golden/webhook/", import.meta.url).pathname;

describe.each(alertFixtures())("the texts of the body %s", (name) => {
  test.each(Object.entries(goldenParts(name)))("are the golden %s, byte for byte", async (part, rendered) => {
    const file = Bun.file(`${FOLDER}${name}.${part}`);
    if (UPDATE) await Bun.write(file, rendered);
    expect(rendered).toBe(await file.text());
  });
});

test("every golden file belongs to a body", async () => {
  const expected = alertFixtures().flatMap((name) =>
    Object.keys(goldenParts(name)).map((part) => `${name}.${part}`),
  );
  expect((await readdir(FOLDER)).toSorted()).toEqual(expected.toSorted());
});

test("the texts are the same in another zone and language", async () => {
  const script = new URL("./support/golden-parts.ts", import.meta.url).pathname;
  const env = { ...process.env, TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8" };
  const child = Bun.spawn([process.execPath, script], { env, stdout: "pipe", stderr: "inherit" });
  expect(await new Response(child.stdout).text()).toBe(hashOfAllTexts());
});

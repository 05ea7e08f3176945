import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import fc from "fast-check";
import * as v from "valibot";
import { type Payload, payloadSchema } from "../../lib/weekly/payload.ts";
import { PAYLOADS } from "../fixtures/payloads.ts";
import { partsOf } from "./support/golden-parts.ts";

// `UPDATE_GOLDEN=1 make test ONLY=tests/weekly/golden.test.ts` writes the files anew; read the difference before committing
// it.
const UPDATE = process.env.UPDATE_GOLDEN === "1";
/** Markup that a person can judge: of a healthy, of a sparse and of a hostile report. Of all others the text is enough. */
const WITH_HTML = ["full", "empty", "hostile"];
const FOLDER = new URL("../golden/weekly/", import.meta.url).pathname;

describe.each(Object.entries(PAYLOADS))("the texts of the report %s", (name, payload) => {
  test("come from a payload that satisfies the schema", () => {
    expect(v.safeParse(payloadSchema, payload).issues).toBeUndefined();
  });

  test.each(goldenPartsOf(name, payload))("are the golden %s, byte for byte", async (part, rendered) => {
    const file = Bun.file(`${FOLDER}${name}.${part}`);
    if (UPDATE) await Bun.write(file, rendered);
    const golden = (await file.exists()) ? await file.text() : "";
    expect(firstDifference(rendered, golden)).toBeNull();
  });

  test("do not depend on the order of the payload's keys", () => {
    const expected = partsOf(payload);
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
        expect(partsOf(shuffleKeys(payload, numbers))).toEqual(expected);
      }),
      { numRuns: name === "huge" ? 2 : 20 },
    );
  });
});

test("every golden file belongs to a report", async () => {
  const expected = Object.keys(PAYLOADS).flatMap((name) =>
    goldenPartsOf(name, PAYLOADS[name]!).map(([part]) => `${name}.${part}`),
  );
  expect((await readdir(FOLDER)).toSorted()).toEqual(expected.toSorted());
});

/** The parts of a report that have a golden file. */
function goldenPartsOf(name: string, payload: Payload): [part: string, rendered: string][] {
  return Object.entries(partsOf(payload)).filter(
    ([part]) => part !== "email.html" || WITH_HTML.includes(name),
  );
}

/** The same value as a database might give it back: every object's keys in an order drawn from `numbers`. */
function shuffleKeys<T>(value: T, numbers: Iterator<number>): T {
  if (Array.isArray(value)) return value.map((item) => shuffleKeys(item, numbers)) as T;
  if (value === null || typeof value !== "object") return value;
  const drawn = Object.entries(value).map((entry) => ({ entry, order: numbers.next().value as number }));
  const entries = drawn
    .toSorted((a, b) => a.order - b.order)
    .map(({ entry: [key, item] }) => [key, shuffleKeys(item, numbers)]);
  return Object.fromEntries(entries) as T;
}

/** The first line in which a text is not the golden one, with what to do when that is meant; null where they are the same. */
function firstDifference(
  text: string,
  golden: string,
): { line: number; golden: string | undefined; now: string | undefined; meant: string } | null {
  if (text === golden) return null;
  const [now, before] = [text.split("\n"), golden.split("\n")];
  const at = now.findIndex((line, i) => line !== before[i]);
  const line = at === -1 ? now.length : at;
  return {
    line: line + 1,
    golden: before[line],
    now: now[line],
    meant: "UPDATE_GOLDEN=1 make test ONLY=tests/weekly, then read the difference",
  };
}

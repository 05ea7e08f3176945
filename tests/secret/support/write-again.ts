/** Writes one secret again and again, `a` and `b` in turn, until it is killed; prints a line after the first two. */
import process from "node:process";
import type { Place } from "../../../lib/secret/place.ts";
import { set } from "./places.ts";

const place = JSON.parse(process.argv[2]!) as Place;

for (let turn = 0; ; turn += 1) {
  await set(place, (turn % 2 === 0 ? "a" : "b").repeat(40_000));
  if (turn === 1) process.stdout.write("writing\n");
  if (turn % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
}

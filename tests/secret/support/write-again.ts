/** Writes one secret again and again, `a` and `b` in turn, until it is killed; prints a line after the first two. */
import process from "node:process";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { Place } from "../../../lib/secret/place.ts";
import { writeSecret } from "../../../lib/secret/write-secret.ts";

const place = JSON.parse(process.argv[2]!) as Place;
const values = ["a", "b"].map((letter) => new Secret(letter.repeat(40_000)));

for (let turn = 0; ; turn += 1) {
  writeSecret(place, values[turn % 2]!, Date.now());
  if (turn === 1) process.stdout.write("writing\n");
  if (turn % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
}

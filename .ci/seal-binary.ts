/**
 * `bun .ci/seal-binary.ts <file>…`: a compiled program that no variable turns into something else.
 *
 * With BUN_BE_BUN=1 a program that `bun build --compile` made is Bun itself and runs any script; BUN_OPTIONS hands it
 * `--preload` and a file. No option of the build takes that away. Both names stand once in the engine, as the texts
 * that it looks up in the environment: without its first letter a name is empty, and no variable has an empty name.
 *
 * Errors: ends with 1 when a name does not stand there exactly once: then this Bun looks it up in another way, and what
 *         `tests/e2e/program/sealed-binary.test.ts` says has to be made true in another way too.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";

const NAMES = ["BUN_BE_BUN", "BUN_OPTIONS"];
const SEALED = Uint8Array.of(0);

for (const path of process.argv.slice(2)) seal(path);

/** Writes two bytes, not the whole file: what is written at one go, Linux maps in larger pieces, some 8 MiB more. */
function seal(path: string): void {
  const bytes = readFileSync(path);
  const places = NAMES.map((name) => placeOf(bytes, name, path));
  const file = openSync(path, "r+");
  for (const at of places) writeSync(file, SEALED, 0, 1, at);
  closeSync(file);
}

/** Where the name stands as a text of its own: with the byte 0 before and behind it. */
function placeOf(bytes: Buffer, name: string, path: string): number {
  const places: number[] = [];
  const text = `\0${name}\0`;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at + 1);
  if (places.length === 1) return places[0]!;
  throw new Error(
    `${path}: ${name} stands in it ${places.length} times, expected once; see the head of .ci/seal-binary.ts`,
  );
}

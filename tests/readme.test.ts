/** The README names every code that ends a command and every variable that a command reads. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** Caught on their way: the first becomes DATABASE_TIMEOUT, the second can only come of a wrong zone in the code. */
const NEVER_SHOWN = new Set(["STATEMENT_TIMEOUT", "WINDOW_UNKNOWN_ZONE"]);

const sources = ["cli", "lib"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, folder, name), "utf8")),
);

/** Every first group of `pattern` in the sources, once each. */
function found(pattern: RegExp): string[] {
  return [...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!)))];
}

/** What the README does not have as code: whole words between backticks, a list of them or with a value. */
function missing(names: string[]): string[] {
  const words = new Set(
    [...readme.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code!.match(/\w+/g) ?? []),
  );
  return names.filter((name) => !words.has(name));
}

test("the README explains every code that ends a command", () => {
  const codes = [
    ...found(/\bcode: "([A-Z]+(?:_[A-Z]+)+)"/g),
    ...found(/^ {2}([A-Z]+(?:_[A-Z]+)+): EXIT\./gm),
  ].filter((code) => !NEVER_SHOWN.has(code));
  expect(codes.length).toBeGreaterThan(50);
  expect(missing(codes)).toEqual([]);
});

test("the README explains what can be behind a missing instance", () => {
  const causes = found(/^ {2}((?:sender_)?instance_\w+): \(/gm);
  expect(causes.length).toBeGreaterThan(5);
  expect(missing(causes)).toEqual([]);
});

test("the README explains every variable", () => {
  const settings = found(/^\s+([A-Z][A-Z_]+): (?:required|optional)(?:Secret)?\(/gm);
  const others = found(/\benv\.([A-Z][A-Z_]{5,})/g).filter((name) => name.startsWith("OPSCTL_"));
  expect(settings.length).toBeGreaterThan(25);
  expect(missing([...settings, ...others])).toEqual([]);
});

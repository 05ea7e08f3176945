/** What the documents refer to is there: the tests behind the promises, the pictures, the files. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { alertRules } from "../lib/alert-rules/rules/all.ts";
import { METRIC } from "../lib/host/metric-names.ts";
import { SOURCES } from "../lib/metrics/sources.ts";
import { alertPicture } from "./pictures/alert-picture.ts";
import { PAGES, type Page, page, ROOT } from "./support/documents.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("docs/promise.md", () => {
  const rows = page("docs/promise.md")
    .prose.split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| promise |"));

  test("names a test for each promise", () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !/`tests\/[^`]+\.test\.ts` “/.test(row.split(" | ").at(-1)!))).toEqual([]);
  });

  test("names tests that there are, in the files that it says", () => {
    const named = rows
      .flatMap((row) => [...row.matchAll(/`(tests\/[^`]+)`([^`]+)/g)])
      .flatMap(([, path, after]) =>
        [...after!.matchAll(/“([^”]+)”/g)].map(([, title]) => ({ path: path!, title: title! })),
      );
    const gone = named.filter(
      ({ path, title }) =>
        !existsSync(join(ROOT, path)) || !testNames(path).some((name) => name.includes(title)),
    );
    expect(gone).toEqual([]);
  });
});

/** The names that a file gives its tests, groups of tests and the rows of its tables: keys, or a `name` in the row. */
function testNames(path: string): string[] {
  const text = read(path);
  const tests = [...text.matchAll(/\(\s*(?:"([^"\n]+)"|`([^`\n]+)`)\s*,/g)];
  const rows = [...text.matchAll(/^ +"([^"\n]+)": \{$|\bname:\s+"([^"\n]+)"/gm)];
  return [...tests, ...rows].map(([, plain, other]) => plain ?? other!);
}

test("docs/metrics.md has every source and every series of the collector", () => {
  const text = read("docs/metrics.md");
  const named = (name: string) => text.includes(`\`${name}\``) || text.includes(`\`${name}{`);
  expect(
    [...SOURCES.map(({ name }) => name), ...Object.values(METRIC)].filter((name) => !named(name)),
  ).toEqual([]);
});

describe("a page in Portuguese", () => {
  const isTranslation = ({ path }: Page) => path.endsWith(".pt-BR.md");
  const translations = PAGES.filter(isTranslation);
  const shownIn = ({ blocks }: Page) =>
    blocks.flatMap(({ lines }) => lines.map((line) => line.replace(/ +# .*/, "")));

  test("is there for those who are woken", () => {
    expect(translations.map(({ path }) => path).toSorted()).toEqual([
      "docs/failed-monday.pt-BR.md",
      "docs/on-call.pt-BR.md",
    ]);
  });

  test.each(translations.map((each) => [each.path, each] as const))(
    "shows no command and no output that no English page shows: %s",
    (_path, translation) => {
      const shown = new Set(PAGES.filter((each) => !isTranslation(each)).flatMap(shownIn));
      expect(shownIn(translation).filter((line) => !shown.has(line))).toEqual([]);
    },
  );
});

test.each(["docs/on-call.md", "docs/on-call.pt-BR.md"])(
  "%s says what to look at for each alert rule",
  (path) => {
    const { text } = page(path);
    const titles = alertRules({ withExtras: true }).map(({ title }) => title);
    expect(titles.filter((title) => !text.includes(title))).toEqual([]);
  },
);

describe("the pictures", () => {
  test("of an alert is the golden text", () => {
    expect(read("docs/images/alert.svg")).toBe(
      alertPicture(read("tests/golden/webhook/grafana-firing.whatsapp.txt")),
    );
  });

  test.each([
    ...["alert.svg", "weekly-email.webp", "weekly-email-cards.webp"],
    ...["weekly-email-dark.webp", "weekly-email-first.webp"],
  ])("%s is under 150 KB", (image) => {
    expect(statSync(join(ROOT, "docs/images", image)).size).toBeLessThan(150_000);
  });
});

describe("files of the repository", () => {
  const PATH = /(?<![\w./-])(?:cli|lib|sql|systemd|tests|docs|\.ci)\/(?:[\w./-]*[\w/])?/g;

  test.each(PAGES.filter(({ path }) => path !== "CHANGELOG.md").map((each) => [each.path, each] as const))(
    "that %s names are there",
    (_path, { text }) => {
      const named = [...new Set(text.match(PATH) ?? [])];
      expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );
});

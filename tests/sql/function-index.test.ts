import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../support/documents.ts";

const PAGE = join(ROOT, "docs/architecture.md");
const HEAD = "| file | functions whose newest text stands there |\n|---|---|\n";

/** The rows of the index: each file, with the functions that no later file makes anew or drops. */
function indexRows(): string {
  const newest = new Map<string, string>();
  for (const folder of ["sql", "sql/state"]) {
    for (const name of readdirSync(join(ROOT, folder)).sort()) {
      if (!name.endsWith(".sql")) continue;
      const text = readFileSync(join(ROOT, folder, name), "utf8");
      const changes = text.matchAll(/^(create(?: or replace)?|drop) function (?:if exists )?([a-z_.]+)/gim);
      for (const [, verb, made = ""] of changes) {
        if (verb?.toLowerCase() === "drop") newest.delete(made);
        else newest.set(made, `${folder}/${name}`);
      }
    }
  }
  return [...Map.groupBy(newest, ([, file]) => file)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([file, made]) =>
        `| \`${file}\` | ${made
          .map(([name]) => `\`${shortName(name)}\``)
          .sort()
          .join(", ")} |\n`,
    )
    .join("");
}

function shortName(name: string): string {
  return name.replace(/^(?:public|opsctl_state)\./, "");
}

test("docs/architecture.md says which file has the newest text of each SQL function", () => {
  const page = readFileSync(PAGE, "utf8");
  const [before = "", after = ""] = page.split(HEAD);
  const rest = after.replace(/^(?:\| .*\n)*/, "");
  const expected = `${before}${HEAD}${indexRows()}${rest}`;
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(PAGE, expected);
  else expect(page).toBe(expected);
});

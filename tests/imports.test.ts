/** Who may import whom, so that an arrow that points upwards fails the build. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** The folders that features share, from below: each may use those before it. Beside them are the features. */
const SHARED = ["platform", "text", "time", "providers", "schema", "dedup", "host", "ledger", "last-run"];
/** Health asks the features for what they know of themselves, and these two show what it says. */
const ABOVE: Readonly<Record<string, number>> = { health: 1, doctor: 2, status: 2 };
/** How high a folder of lib stands; features stand beside each other. */
const levelOf = (folder: string) =>
  SHARED.includes(folder) ? SHARED.indexOf(folder) : SHARED.length + (ABOVE[folder] ?? 0);

type Source = { path: string; text: string; imports: string[] };

const all: Source[] = ["lib", "cli"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      return { path, text, imports: importsOf(path, text) };
    }),
);
const byPath = new Map(all.map((source) => [source.path, source]));

/** What a file imports, statically, for types, again for others, or late: packages as they are, files from the root. */
function importsOf(path: string, text: string): string[] {
  const patterns = [/\b(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"/g, /\bimport\s*\(?\s*"([^"]+)"/g];
  const names = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name as string));
  return names.map((name) => (name.startsWith(".") ? relative(ROOT, join(ROOT, dirname(path), name)) : name));
}

/** `weekly` for `lib/weekly/run.ts`. */
const folderOf = (path: string) => /^lib\/([^/]+)\//.exec(path)?.[1];

/** Each import for which this holds, as `from -> to`. */
function arrows(isForbidden: (to: string, from: string) => boolean): string[] {
  return all.flatMap(({ path, imports }) =>
    imports.filter((name) => isForbidden(name, path)).map((name) => `${path} -> ${name}`),
  );
}

describe("imports", () => {
  test("are found by this test, of every kind", () => {
    const text = `import "./a.ts";\nimport {\n  x,\n} from "./b.ts";\nexport type { Y } from "postgres";
      const z = await import("../c.ts"); import t from "../../sql/d.sql" with { type: "text" };`;
    const expected = ["lib/c.ts", "lib/x/a.ts", "lib/x/b.ts", "postgres", "sql/d.sql"];
    expect(importsOf("lib/x/y.ts", text).sort()).toEqual(expected);
    expect(arrows(() => true).length).toBeGreaterThan(100);
  });

  test.each<[string, (to: string, from: string) => boolean]>([
    ["from lib into cli", (to, from) => from.startsWith("lib/") && to.startsWith("cli/")],
    ["into tests", (to) => to.startsWith("tests/")],
    [
      "upwards in lib",
      (to, from) => {
        const [low, high] = [folderOf(from), folderOf(to)];
        return low !== undefined && high !== undefined && levelOf(high) > levelOf(low);
      },
    ],
    [
      "between features",
      (to, from) => {
        const [one, other] = [folderOf(from), folderOf(to)];
        return (
          one !== undefined &&
          other !== undefined &&
          one !== other &&
          !SHARED.includes(one) &&
          levelOf(one) === levelOf(other)
        );
      },
    ],
    [
      "of providers but from platform and text",
      (to, from) =>
        folderOf(from) === "providers" &&
        !["providers", "platform", "text", undefined].includes(folderOf(to)),
    ],
  ])("go never %s", (_what, isForbidden) => {
    expect(arrows(isForbidden)).toEqual([]);
  });

  test("name built-in modules with node:, and only the eight packages that are declared", () => {
    const declared = Object.keys(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).dependencies);
    expect(declared).toHaveLength(8);
    const isForeign = (name: string) =>
      !/^(lib|cli|sql|docs|node:)/.test(name) &&
      !declared.some((known) => name === known || name.startsWith(`${known}/`));
    expect(arrows(isForeign)).toEqual([]);
  });

  test("form no circle, and make every source reachable from the entry point", () => {
    const done = new Set<string>();
    const circleFrom = (path: string, way: string[]): string[] | null => {
      if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
      if (done.has(path)) return null;
      for (const next of byPath.get(path)?.imports ?? []) {
        const circle = circleFrom(next, [...way, path]);
        if (circle !== null) return circle;
      }
      done.add(path);
      return null;
    };
    expect(circleFrom("cli/main.ts", [])).toBeNull();
    expect(all.map(({ path }) => path).filter((path) => !done.has(path))).toEqual([]);
  });
});

describe("the runtime", () => {
  const code = ({ text }: Source) => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
  const using = (pattern: RegExp) =>
    all.filter((source) => pattern.test(code(source))).map(({ path }) => path);

  test("is named in lib/platform/runtime.ts alone, and ended by cli alone", () => {
    expect(using(/\b(Bun|Deno)\s*\.|"(Bun|Deno)"|"bun(:[a-z]+)?"|"npm:|"jsr:/)).toEqual([
      "lib/platform/runtime.ts",
    ]);
    const ending = using(/\bprocess\s*\.\s*(exit|abort|kill)\s*\(|\bexitCode\s*=(?!=)/);
    expect(ending.filter((path) => path.startsWith("lib/"))).toEqual(["lib/platform/run-program.ts"]);
    // No command starts opsctl again: root becomes the account in its own process.
    expect(using(/\bexecPath\b|\bset[ug]id\b|\bsetgroups\b/)).toEqual(["lib/platform/privileges.ts"]);
    expect(using(/\bconsole\s*\./)).toEqual(["cli/args/help.ts"]);
  });
});

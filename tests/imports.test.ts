/** Who may import whom, so that an arrow that points upwards fails the build. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** What features share, and what each of these may use of the others. */
const SHARED: Record<string, string[]> = {
  platform: [],
  text: ["platform"],
  time: ["platform"],
  providers: ["platform", "text"],
  schema: ["platform"],
  dedup: ["platform"],
  host: ["platform"],
  ledger: ["platform"],
  "last-run": ["platform"],
};

/** The folders of lib/platform, and what each may use of the others; the files beside them are `root`. */
const PLATFORM: Record<string, string[]> = {
  root: [],
  account: ["root"],
  files: ["root", "account"],
  secrets: ["root", "account", "files"],
  log: ["root", "secrets"],
  database: ["root", "files", "secrets"],
  config: ["root", "account", "files", "secrets", "database"],
  http: ["root"],
  rate: [],
  server: ["root"],
};

/** These ask the other features for what they know of themselves; nothing asks them. */
const ASKING: readonly string[] = ["doctor", "status"];

type Source = { path: string; text: string; imports: string[] };

function sourcesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      return { path, text, imports: importsOf(path, text) };
    });
}

/** What a file imports, statically, for types, again for others, or late: packages as they are, files from the root. */
function importsOf(path: string, text: string): string[] {
  const patterns = [/\b(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"/g, /\bimport\s*\(?\s*"([^"]+)"/g];
  const names = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name as string));
  return names.map((name) => (name.startsWith(".") ? relative(ROOT, join(ROOT, dirname(path), name)) : name));
}

/** `weekly` for `lib/weekly/run.ts`. */
function featureOf(path: string): string | undefined {
  return /^lib\/([^/]+)\//.exec(path)?.[1];
}

/** `http` for `lib/platform/http/url.ts`, `root` for a file beside the folders. */
function levelOf(path: string): string | undefined {
  const parts = /^lib\/platform\/(?:([^/]+)\/)?(?:[^/]+\/)*[^/]+$/.exec(path);
  return parts === null ? undefined : (parts[1] ?? "root");
}

const lib = sourcesIn("lib");
const cli = sourcesIn("cli");
const all = [...lib, ...cli];
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

function offenders(sources: Source[], isForbidden: (name: string, source: Source) => boolean): string[] {
  return sources.flatMap((source) =>
    source.imports.filter((name) => isForbidden(name, source)).map((name) => `${source.path} -> ${name}`),
  );
}

describe("imports", () => {
  test("are found by this test, of every kind", () => {
    const text = `import "./a.ts";\nimport {\n  x,\n} from "./b.ts";\nexport type { Y } from "postgres";
      const z = await import("../c.ts"); import t from "../../sql/d.sql" with { type: "text" };`;
    expect(importsOf("lib/x/y.ts", text).sort()).toEqual([
      "lib/c.ts",
      "lib/x/a.ts",
      "lib/x/b.ts",
      "postgres",
      "sql/d.sql",
    ]);
    expect(all.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
  });

  test("of files exist and carry their extension", () => {
    const isFile = (name: string) => /^(lib|cli|sql|docs|tests)\//.test(name);
    expect(offenders(all, (name) => isFile(name) && !existsSync(join(ROOT, name)))).toEqual([]);
    expect(offenders(all, (name) => isFile(name) && !/\.(ts|sql|json|md|bash|zsh|fish)$/.test(name))).toEqual(
      [],
    );
  });

  test("never reach into cli or tests from outside", () => {
    expect(offenders(lib, (name) => /^(cli|tests)\//.test(name))).toEqual([]);
    expect(offenders(cli, (name) => name.startsWith("tests/"))).toEqual([]);
  });

  test("between features there are none, but doctor and status may ask each of them", () => {
    const crosses = (name: string, { path }: Source) => {
      const [from, to] = [featureOf(path), featureOf(name)];
      return to !== undefined && from !== to && !ASKING.includes(from as string) && !(to in SHARED);
    };
    expect(offenders(lib, crosses)).toEqual([]);
    expect(
      offenders(lib, (name, { path }) => {
        const [from, to] = [featureOf(path), featureOf(name)];
        return to !== undefined && ASKING.includes(to) && from !== to;
      }),
    ).toEqual([]);
  });

  test("of shared folders go only to those below them", () => {
    const climbs = (name: string, { path }: Source) => {
      const [from, to] = [featureOf(path) as string, featureOf(name)];
      const allowed = SHARED[from];
      return allowed !== undefined && to !== undefined && to !== from && !allowed.includes(to);
    };
    expect(offenders(lib, climbs)).toEqual([]);
  });

  test("inside lib/platform go only downward", () => {
    const climbs = (name: string, { path }: Source) => {
      const [from, to] = [levelOf(path), levelOf(name)];
      return from !== undefined && to !== undefined && to !== from && !PLATFORM[from]?.includes(to);
    };
    expect(offenders(lib, climbs)).toEqual([]);
    const folders = lib.map(({ path }) => levelOf(path)).filter((level) => level !== undefined);
    expect([...new Set(folders)].sort()).toEqual(Object.keys(PLATFORM).sort());
  });

  test("name built-in modules with node:, and only the packages that are declared", () => {
    const declared = Object.keys(manifest.dependencies);
    const isForeign = (name: string) =>
      !/^(lib|cli|sql|docs)\//.test(name) &&
      !name.startsWith("node:") &&
      !declared.some((known) => name === known || name.startsWith(`${known}/`));
    expect(offenders(all, isForeign)).toEqual([]);
  });

  test("use eight packages at run time: the six of the project's, RFC 8785 and the width of a text", () => {
    const six = ["@js-temporal/polyfill", "citty", "consola", "hono", "postgres", "valibot"];
    expect(Object.keys(manifest.dependencies).sort()).toEqual(
      [...six, "canonicalize", "string-width"].sort(),
    );
  });

  test("form no circle, those for types alone included", () => {
    const byPath = new Map(all.map((source) => [source.path, source]));
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
    expect(all.map(({ path }) => circleFrom(path, [])).find((circle) => circle !== null)).toBeUndefined();
  });

  test("make every source reachable from the entry point", () => {
    const byPath = new Map(all.map((source) => [source.path, source]));
    const reached = new Set<string>();
    const visit = (path: string) => {
      const source = byPath.get(path);
      if (source === undefined || reached.has(path)) return;
      reached.add(path);
      source.imports.forEach(visit);
    };
    visit("cli/main.ts");
    expect(all.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe("the runtime", () => {
  const code = ({ text }: Source) => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
  const using = (pattern: RegExp, sources: Source[]) =>
    sources.filter((source) => pattern.test(code(source))).map(({ path }) => path);

  test("is named in lib/platform/runtime.ts alone", () => {
    expect(using(/\b(Bun|Deno)\s*\.|"(Bun|Deno)"|"bun(:[a-z]+)?"|"npm:|"jsr:/, all).sort()).toEqual([
      "lib/platform/runtime.ts",
    ]);
  });

  test("is ended by cli alone, and console is used for help alone", () => {
    expect(using(/\bprocess\s*\.\s*(exit|abort|kill)\s*\(|\bexitCode\s*=/, lib)).toEqual([
      "lib/platform/kill-group.ts",
    ]);
    expect(using(/\bconsole\s*\./, all)).toEqual(["cli/framework/usage/help.ts"]);
  });
});

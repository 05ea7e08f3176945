/** The list of what is in a binary, held against the published schema and against what the bundler says. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { bundledPackages, type SbomSource, sbom } from "../../packaging/sbom.ts";

const ROOT = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "opsctl-sbom-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A schema of CycloneDX's own library, which ships them all. */
function published(name: string) {
  const folder = join(ROOT, "node_modules/@cyclonedx/cyclonedx-library/res/schema");
  return JSON.parse(readFileSync(join(folder, `${name}.SNAPSHOT.schema.json`), "utf8"));
}

const validate = new Ajv({ allErrors: true, strict: false, validateFormats: false })
  .addSchema(published("spdx"), "http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json")
  .addSchema(published("jsf-0.82"), "http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json")
  .compile(published("bom-1.5"));

const BUNDLED = [
  "@js-temporal/polyfill",
  "canonicalize",
  "citty",
  "consola",
  "hono",
  "jsbi",
  "postgres",
  "valibot",
];
const inputs = (...paths: string[]) => ({ inputs: Object.fromEntries(paths.map((path) => [path, {}])) });
const packages = bundledPackages(
  inputs(...BUNDLED.map((name) => `node_modules/${name}/dist/index.js`)),
  ROOT,
);
const source: SbomSource = {
  version: "1.2.3",
  platform: "linux-x64",
  binarySha256: "ab".repeat(32),
  bun: { version: "1.4.5", package: "@oven/bun-linux-x64", sha256: "cd".repeat(32) },
  packages,
  secondsSinceEpoch: 1_767_323_045,
};

/** What the schema finds wrong with a document; nothing when it takes it. */
function mistakes(text: string): string[] {
  validate(JSON.parse(text));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe("sbom()", () => {
  test("is of CycloneDX's schema, licences included", () => {
    expect(mistakes(sbom(source))).toEqual([]);
    const wrong = packages.map((one) => ({ ...one, licence: "no licence of this name" }));
    expect(mistakes(sbom({ ...source, packages: wrong })).length).toBeGreaterThan(0);
    expect(mistakes(sbom({ ...source, binarySha256: "short" })).length).toBeGreaterThan(0);
  });

  test("lists Bun and each package with version, licence and checksum", () => {
    const { components, metadata } = JSON.parse(sbom(source));
    expect(metadata.timestamp).toBe("2026-01-02T03:04:05.000Z");
    expect(components.map(({ name }: { name: string }) => name)).toEqual(["bun", ...BUNDLED]);
    expect(components[1]).toMatchObject({
      purl: "pkg:npm/%40js-temporal/polyfill@0.5.1",
      licenses: [{ license: { id: "ISC" } }],
      hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    });
  });
});

describe("bundledPackages()", () => {
  test("takes what the bundler read, not what is installed", () => {
    const found = bundledPackages(
      inputs("cli/main.ts", "node_modules/hono/dist/hono.js", "node_modules/hono/x.js"),
      ROOT,
    );
    expect(found.map(({ name }) => name)).toEqual(["hono"]);
    expect(found[0]!.licenceText).toContain("Permission is hereby granted");
  });

  test("refuses a package of another version than bun.lock's, and one inside another", () => {
    const place = join(folder, "node_modules/hono");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), '{"version": "0.0.1", "license": "MIT"}');
    writeFileSync(join(folder, "bun.lock"), '    "hono": ["hono@4.0.0", "", {}, "sha512-AAAA"],\n');
    expect(() => bundledPackages(inputs("node_modules/hono/x.js"), folder)).toThrow("bun.lock has another");
    expect(() => bundledPackages(inputs("node_modules/a/node_modules/b/x.js"), ROOT)).toThrow(
      "inside another",
    );
  });
});

/**
 * `bun packaging/sbom.ts <version> <seconds since epoch> <Bun's version> <platform> <package of Bun> <SHA-256 of Bun>`:
 * lists what is in `dist/opsctl-<platform>`, by the bundler's `dist/opsctl-<platform>.meta.json`.
 *
 * Writes: dist/opsctl-<platform>.cdx.json (CycloneDX) and dist/third-party-licences.txt.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/**
 * A package of npm whose code is in the binary.
 *
 * Shape: `integrity` as bun.lock has it: `sha512-` and base64. `licenceText` is its own file, null where its package
 *        has none.
 */
export type BundledPackage = {
  name: string;
  version: string;
  licence: string;
  integrity: string;
  licenceText: string | null;
};

/** The content of an SBOM; `secondsSinceEpoch` is the commit's time. */
export type SbomSource = {
  version: string;
  platform: string;
  binarySha256: string;
  bun: { version: string; package: string; sha256: string };
  packages: BundledPackage[];
  secondsSinceEpoch: number;
};

/**
 * The content of one binary: Bun, and the packages bundled into it.
 *
 * Behaviour: the same source gives the same text.
 * Source:    CycloneDX 1.5, JSON; a test compares it with the published schema. Bun's parts: LICENSE.md of Bun.
 */
export function sbom(source: SbomSource): string {
  const { version, platform, binarySha256, packages } = source;
  const main = `opsctl@${version}`;
  const components = [bunComponent(source.bun), ...packages.map(packageComponent)];
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      timestamp: new Date(source.secondsSinceEpoch * 1000).toISOString(),
      component: {
        ...{ type: "application", "bom-ref": main, name: "opsctl", version },
        description: `The program for ${platform}`,
        hashes: [{ alg: "SHA-256", content: binarySha256 }],
        licenses: [{ license: { id: "MIT" } }],
      },
    },
    components,
    dependencies: [{ ref: main, dependsOn: components.map((component) => component["bom-ref"]) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function bunComponent({ version, package: name, sha256 }: SbomSource["bun"]) {
  const url = `https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`;
  return {
    ...component({ type: "platform", name: "bun", version, purl: purlOf(name, version), licence: "MIT" }),
    description: "The runtime around the program; libraries of its own are linked into it",
    hashes: [{ alg: "SHA-256", content: sha256 }],
    externalReferences: [{ type: "license", url }],
    components: [{ type: "library", name: "JavaScriptCore", licenses: [{ license: { name: "LGPL-2" } }] }],
  };
}

function packageComponent({ name, version, licence, integrity }: BundledPackage) {
  const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return {
    ...component({ type: "library", name, version, purl: purlOf(name, version), licence }),
    hashes: [{ alg: "SHA-512", content }],
  };
}

type Component = { type: string; name: string; version: string; purl: string; licence: string };

function component({ licence: id, purl, ...rest }: Component) {
  return { ...rest, "bom-ref": purl, purl, licenses: [{ license: { id } }] };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/**
 * The packages whose files the bundler read (`inputs` of `bun build --metafile`), by name.
 *
 * Errors: a package that bun.lock does not have, or has in another version, and one that names no licence.
 */
export function bundledPackages({ inputs }: { inputs: object }, root: string): BundledPackage[] {
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  const names = Object.keys(inputs).flatMap((path) => {
    const [, inside, further] = path.split("node_modules/");
    if (further !== undefined) throw new Error(`Cannot list ${path}: a package inside another`);
    return inside === undefined ? [] : inside.split("/", inside.startsWith("@") ? 2 : 1).join("/");
  });
  return [...new Set(names)].sort().map((name) => readPackage(name, join(root, "node_modules", name), lock));
}

function readPackage(name: string, folder: string, lock: string): BundledPackage {
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const line = lock.split("\n").find((text) => text.includes(`: ["${name}@${version}", `));
  const [, integrity] = /"(sha512-[^"]+)"\],?$/.exec(line ?? "") ?? [];
  if (integrity === undefined) throw new Error(`${name} ${version} is installed, and bun.lock has another`);
  if (typeof license !== "string") throw new Error(`${name} ${version} names no licence`);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  const licenceText = file === undefined ? null : readFileSync(join(folder, file), "utf8").trim();
  return { name, version, licence: license, integrity, licenceText };
}

function thirdPartyLicences(packages: readonly BundledPackage[], bun: string): string {
  const head = `Bun ${bun}, MIT; its parts and their licences: https://github.com/oven-sh/bun/blob/bun-v${bun}/LICENSE.md`;
  const texts = packages.map(
    ({ name, version, licence, licenceText }) =>
      `${name} ${version}, ${licence}\n\n${licenceText ?? "Its package has no text of it."}`,
  );
  return `${[head, ...texts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function main(): void {
  const [version, seconds, bunVersion, platform, bunPackage, sha256] = process.argv.slice(2) as string[];
  if (!sha256) throw new Error("expected six arguments: see the head of packaging/sbom.ts");
  const root = join(import.meta.dirname, "..");
  const binary = join(root, "dist", `opsctl-${platform}`);
  const packages = bundledPackages(JSON.parse(readFileSync(`${binary}.meta.json`, "utf8")), root);
  const document = sbom({
    version: version!,
    platform: platform!,
    binarySha256: createHash("sha256").update(readFileSync(binary)).digest("hex"),
    bun: { version: bunVersion!, package: bunPackage!, sha256 },
    packages,
    secondsSinceEpoch: Number(seconds),
  });
  writeFileSync(`${binary}.cdx.json`, document);
  writeFileSync(join(root, "dist/third-party-licences.txt"), thirdPartyLicences(packages, bunVersion!));
}

if (import.meta.main) main();

/**
 * `bun packaging/list-contents.ts <version> <seconds since epoch> <Bun's version> <platform> <package of Bun> <SHA-256
 * of Bun>`: says what is in `dist/opsctl-<platform>`, by `dist/opsctl-<platform>.meta.json` of the bundler.
 *
 * Writes: dist/opsctl-<platform>.cdx.json (CycloneDX) and dist/third-party-licences.txt.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type BundledPackage, bundledPackages } from "./bundled-packages.ts";
import { sbom } from "./sbom.ts";

const ROOT = join(import.meta.dirname, "..");
const [version, seconds, bunVersion, platform, bunPackage, sha256] = process.argv.slice(2) as string[];
if (!sha256) throw new Error("expected six arguments: see the head of packaging/list-contents.ts");

const binary = join(ROOT, "dist", `opsctl-${platform}`);
const packages = bundledPackages(JSON.parse(readFileSync(`${binary}.meta.json`, "utf8")), ROOT);
const document = sbom({
  version: version!,
  platform: platform!,
  binarySha256: createHash("sha256").update(readFileSync(binary)).digest("hex"),
  bun: { version: bunVersion!, package: bunPackage!, sha256 },
  packages,
  secondsSinceEpoch: Number(seconds),
});
writeFileSync(`${binary}.cdx.json`, document);
writeFileSync(join(ROOT, "dist/third-party-licences.txt"), licences(packages, bunVersion!));

function licences(all: BundledPackage[], bun: string): string {
  const head = `Bun ${bun}, MIT; its parts and their licences: https://github.com/oven-sh/bun/blob/bun-v${bun}/LICENSE.md`;
  const texts = all.map(
    ({ name, version, licence, licenceText }) =>
      `${name} ${version}, ${licence}\n\n${licenceText ?? "Its package has no text of it."}`,
  );
  return `${[head, ...texts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

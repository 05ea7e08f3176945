import { createHash } from "node:crypto";
import type { BundledPackage } from "./bundled-packages.ts";

/** What an SBOM is made from; `secondsSinceEpoch` is the commit's time. */
export type SbomSource = {
  version: string;
  platform: string;
  binarySha256: string;
  bun: { version: string; package: string; sha256: string };
  packages: BundledPackage[];
  secondsSinceEpoch: number;
};

/**
 * The list of what is in one binary: Bun, and the packages bundled into it.
 *
 * Behaviour: the same source gives the same text.
 * Source:    CycloneDX 1.5, JSON; a test holds it against the published schema. Bun's parts: LICENSE.md of Bun.
 */
export function sbom(source: SbomSource): string {
  const { version, platform, binarySha256, packages } = source;
  const main = `opsctl@${version}`;
  const components = [bunComponent(source.bun), ...packages.map(packageComponent)];
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: `urn:uuid:${uuidOf([main, platform, binarySha256].join(" "))}`,
    version: 1,
    metadata: {
      timestamp: new Date(source.secondsSinceEpoch * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": main,
        name: "opsctl",
        version,
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
  const purl = purlOf(name, version);
  return {
    type: "platform",
    "bom-ref": purl,
    name: "bun",
    version,
    description: "The runtime around the program; libraries of its own are linked into it",
    hashes: [{ alg: "SHA-256", content: sha256 }],
    licenses: [{ license: { id: "MIT" } }],
    purl,
    externalReferences: [
      { type: "license", url: `https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md` },
    ],
    components: [{ type: "library", name: "JavaScriptCore", licenses: [{ license: { name: "LGPL-2" } }] }],
  };
}

function packageComponent({ name, version, licence, integrity }: BundledPackage) {
  const purl = purlOf(name, version);
  const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    hashes: [{ alg: "SHA-512", content }],
    licenses: [{ license: { id: licence } }],
    purl,
  };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** A UUID of version 8 (RFC 9562): its bits are those of a hash. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

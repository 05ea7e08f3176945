import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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

/** What the bundler says that it read (`bun build --metafile`). */
export type Metafile = { inputs: Record<string, unknown> };

/**
 * The packages that the bundler took code from, by name; not those that are only installed.
 *
 * Errors: a package that bun.lock does not have, or has in another version, and one that names no licence.
 */
export function bundledPackages(metafile: Metafile, root: string): BundledPackage[] {
  const lock = lockedPackages(readFileSync(join(root, "bun.lock"), "utf8"));
  return namesIn(metafile).map((name) => readPackage(name, join(root, "node_modules", name), lock));
}

function namesIn({ inputs }: Metafile): string[] {
  const names = Object.keys(inputs).flatMap((path) => {
    const [, inside] = path.split("node_modules/");
    if (inside === undefined) return [];
    if (path.split("node_modules/").length > 2)
      throw new Error(`Cannot list ${path}: a package inside another`);
    return [inside.split("/", inside.startsWith("@") ? 2 : 1).join("/")];
  });
  return [...new Set(names)].sort();
}

/** Name and version to integrity. */
function lockedPackages(text: string): Map<string, string> {
  const entries = text.matchAll(/^ {4}"[^"]+": \["([^"]+)", .*"(sha512-[^"]+)"\],?$/gm);
  return new Map([...entries].map(([, id, integrity]) => [id!, integrity!]));
}

function readPackage(name: string, folder: string, lock: Map<string, string>): BundledPackage {
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const integrity = lock.get(`${name}@${version}`);
  if (integrity === undefined) throw new Error(`${name} ${version} is installed, and bun.lock has another`);
  if (typeof license !== "string") throw new Error(`${name} ${version} names no licence`);
  return { name, version, licence: license, integrity, licenceText: licenceText(folder) };
}

function licenceText(folder: string): string | null {
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  return file === undefined ? null : readFileSync(join(folder, file), "utf8").trim();
}

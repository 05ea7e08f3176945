import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { debianPackages } from "../debian-packages.ts";

/** nft and what it needs beside a C library. */
const PACKAGES = [
  "nftables",
  "libnftables1",
  "libnftnl11",
  "libmnl0",
  "libjansson4",
  "libxtables12",
  "libgmp10",
  "libedit2",
  "libbsd0",
  "libmd0",
  "libtinfo6",
];

/** A program that was not installed, and the environment in which it finds its libraries. */
export type Nft = { path: string; env: Record<string, string> };

/** Debian's nft, the installed one or out of its packages; null where there is none and none can be had. */
export function findNft(): Nft | null {
  const installed = ["nft", "/usr/sbin/nft"].map((path) => ({ path, env: {} }));
  return installed.find(runs) ?? unpacked();
}

function unpacked(): Nft | null {
  const folder = debianPackages("debian-nftables", PACKAGES);
  if (folder === null) return null;
  const nft = { path: join(folder, "usr/sbin/nft"), env: { LD_LIBRARY_PATH: libraries(folder) } };
  return runs(nft) ? nft : null;
}

/** Each release has its libraries below `/lib` or `/usr/lib`, in a folder of the machine's kind. */
function libraries(folder: string): string {
  const places = ["lib", "usr/lib"].map((name) => join(folder, name)).filter((place) => existsSync(place));
  return places.flatMap((place) => readdirSync(place).map((kind) => join(place, kind))).join(":");
}

function runs({ path, env }: Nft): boolean {
  return spawnSync(path, ["--version"], { env: { ...process.env, ...env } }).status === 0;
}

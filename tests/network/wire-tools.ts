import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { debianPackages } from "../support/debian-packages.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { namespaceWords } from "./namespace.ts";

/** Whether this account may have wires and tables in a network of its own, and the programs are there that make them. */
export function canLayWire(): boolean {
  const nft = findNft();
  const words = nft === null ? null : namespaceWords();
  if (words === null || findBusybox() === null) return false;
  const script = `ip link add wire0 type veth && '${nft}' list ruleset`;
  return spawnSync(words[0]!, [...words.slice(1), "sh", "-c", script]).status === 0;
}

/** The path of Debian's static busybox, which has a ping; null where it cannot be had. */
export function findBusybox(): string | null {
  const folder = debianPackages("debian/busybox-static", () => ["busybox-static"]);
  const places = ["bin", "usr/bin"].map((name) => join(folder ?? "", name, "busybox"));
  return (folder && places.find(existsSync)) ?? null;
}

/** The path of Debian's nft, the installed one or out of its packages; null where there is none and none can be had. */
export function findNft(): string | null {
  // An ordinary account has no sbin on its PATH.
  const places = ["nft", "/usr/sbin/nft"].map((program) => ({ program, packageName: "nftables" }));
  return places.map(findDebianTool).find((path) => path !== null) ?? null;
}

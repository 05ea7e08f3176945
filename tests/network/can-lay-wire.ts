import { spawnSync } from "node:child_process";
import { findNft } from "../systemd/support/nft.ts";
import { findBusybox } from "./busybox.ts";
import { namespaceWords } from "./namespace.ts";

/** Whether this account may have wires and tables in a network of its own, and the programs are there that make them. */
export function canLayWire(): boolean {
  const nft = findNft();
  const words = nft === null ? null : namespaceWords();
  if (words === null || findBusybox() === null) return false;
  const script = `ip link add wire0 type veth && '${nft}' list ruleset`;
  return spawnSync(words[0]!, [...words.slice(1), "sh", "-c", script]).status === 0;
}

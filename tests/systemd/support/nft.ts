import { findDebianTool } from "../../support/debian-tool.ts";

/** The path of Debian's nft, the installed one or out of its packages; null where there is none and none can be had. */
export function findNft(): string | null {
  // An ordinary account has no sbin on its PATH.
  const places = ["nft", "/usr/sbin/nft"].map((program) => ({ program, packageName: "nftables" }));
  return places.map(findDebianTool).find((path) => path !== null) ?? null;
}

import { findDebianTool } from "../debian-tool.ts";

/** What nft needs beside a C library. */
const LIBRARIES = [
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

/** The path of Debian's nft, the installed one or out of its packages; null where there is none and none can be had. */
export function findNft(): string | null {
  return findDebianTool({ program: "nft", packageName: "nftables", libraries: LIBRARIES });
}

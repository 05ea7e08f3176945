import { BlockList, isIP } from "node:net";

const ADDRESSES = new BlockList();
ADDRESSES.addSubnet("127.0.0.0", 8, "ipv4");
ADDRESSES.addAddress("::1", "ipv6");

/**
 * Whether a host's name or address leads to this host by loopback.
 *
 * Behaviour: `localhost` by name, 127.0.0.0/8 and ::1 by address, however they are written, also in the brackets of
 *            a URL; this host's other addresses do not count.
 */
export function isLoopback(name: string): boolean {
  const host = name.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  return ADDRESSES.check(host, family === 6 ? "ipv6" : "ipv4");
}

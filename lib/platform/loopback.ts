import { BlockList, isIP } from "node:net";

const ADDRESSES = new BlockList();
ADDRESSES.addSubnet("127.0.0.0", 8, "ipv4");
ADDRESSES.addAddress("::1", "ipv6");

/**
 * Whether a host's name or address stays on this host.
 *
 * Shape: `localhost` by name, 127.0.0.0/8 and ::1 by address, in whichever way it is written; an address of this host's
 *        own network counts as another.
 */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  return ADDRESSES.check(host, family === 6 ? "ipv6" : "ipv4");
}

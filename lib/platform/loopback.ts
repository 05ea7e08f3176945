const LOOPBACK_V4 = /^127(\.(25[0-5]|2[0-4]\d|1\d\d|\d\d?)){3}$/;

/**
 * Whether a host's name or address stays on this host.
 *
 * Shape: `localhost` by name, 127.0.0.0/8 and ::1 by address; an address of this host's own network counts as another.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  return name === "localhost" || name === "::1" || LOOPBACK_V4.test(name);
}

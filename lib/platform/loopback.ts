/**
 * Whether a host's name or address stays on this host.
 *
 * Shape: `localhost` by name, 127.0.0.0/8 and ::1 by address; an address of this host's own network counts as another.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

import { Buffer } from "node:buffer";

/**
 * Whether a file of the time zone database stands for UTC the whole year.
 *
 * Shape:  the file's last line says how the zone goes on; one of the oldest version has none and counts as another zone.
 * Source: RFC 8536, 3.3; POSIX TZ: a name and nothing but zeros.
 */
export function isUtcZone(file: Uint8Array): boolean {
  const text = Buffer.from(file).toString("latin1");
  if (!text.startsWith("TZif")) return false;
  const rule = /\n([^\n]*)\n$/.exec(text)?.[1] ?? "";
  return /^(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)[+-]?0+(?::0+)*$/.test(rule);
}

import { hash } from "node:crypto";

/**
 * A UUID made of parts: the same for the same parts, another one for others.
 *
 * Shape:  in lower case with the bits of version 4 set, the only one that the tracker is known to take; its other bits
 *         are of the SHA-256 of the parts.
 * Source: issue tracker contract, The same id twice.
 */
export function derivedUuid(parts: readonly (string | number)[]): string {
  const hex = hash("sha256", JSON.stringify(parts), "hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const third = `4${hex.slice(13, 16)}`;
  const fourth = `${variant}${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), third, fourth, hex.slice(20, 32)].join("-");
}

import { hash } from "node:crypto";

/**
 * The id of the issue that a claim on a fingerprint creates: the same on every attempt, another one for every claim.
 *
 * Shape:  a UUID in lower case with the bits of version 4 set, the only one that the tracker is known to take; its other
 *         bits are of the SHA-256 of fingerprint and time.
 * Units:  `claimedAtMs` is epoch milliseconds.
 * Source: issue tracker contract, The same id twice.
 */
export function issueIdOf(fingerprint: string, claimedAtMs: number): string {
  const claim = `${claimedAtMs} ${fingerprint}`;
  const known = lately.get(claim);
  if (known !== undefined) return known;
  const id = uuidOf(fingerprint, claimedAtMs);
  if (lately.size >= MOST_REMEMBERED) lately.clear();
  lately.set(claim, id);
  return id;
}

/** A storm asks for the same few ids ten thousand times a second. */
const lately = new Map<string, string>();
const MOST_REMEMBERED = 1_000;

function uuidOf(fingerprint: string, claimedAtMs: number): string {
  const hex = hash("sha256", JSON.stringify([fingerprint, claimedAtMs]), "hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const third = `4${hex.slice(13, 16)}`;
  const fourth = `${variant}${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), third, fourth, hex.slice(20, 32)].join("-");
}

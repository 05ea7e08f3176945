import { createHash } from "node:crypto";

/**
 * The id of the issue that a claim on a fingerprint stands for: the same on every attempt, another one for every claim.
 *
 * Shape:  a UUID in lower case with the bits of version 4 set, since the tracker takes no other for certain; its other
 *         bits are the SHA-256 of both.
 * Units:  `claimedAtMs` is epoch milliseconds.
 * Source: issue tracker contract, The same id twice.
 */
export function issueIdOf(fingerprint: string, claimedAtMs: number): string {
  const bytes = createHash("sha256")
    .update(JSON.stringify([fingerprint, claimedAtMs]), "utf8")
    .digest()
    .subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

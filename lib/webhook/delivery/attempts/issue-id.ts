import { derivedUuid } from "./derived-uuid.ts";

/**
 * The id of the issue that a claim on a fingerprint creates: the same on every attempt, another one for every claim.
 *
 * Shape:  as `derivedUuid` of fingerprint and time.
 * Units:  `claimedAtMs` is epoch milliseconds.
 * Source: issue tracker contract, The same id twice.
 */
export function issueIdOf(fingerprint: string, claimedAtMs: number): string {
  const claim = `${claimedAtMs} ${fingerprint}`;
  const known = lately.get(claim);
  if (known !== undefined) return known;
  const id = derivedUuid([fingerprint, claimedAtMs]);
  if (lately.size >= MOST_REMEMBERED) lately.clear();
  lately.set(claim, id);
  return id;
}

/** A storm asks for the same few ids ten thousand times a second. */
const lately = new Map<string, string>();
const MOST_REMEMBERED = 1_000;

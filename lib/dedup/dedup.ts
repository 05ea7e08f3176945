/**
 * What became of a claim.
 *
 * Shape: `first` carries the token with which the claim is confirmed or released; `duplicate` says when the claim that
 *        is in force was made, and what its confirmation left with it.
 * Units: `claimedAtMs` is epoch milliseconds of the clock that the dedup was given.
 */
export type Claim =
  | { status: "first"; token: string; claimedAtMs: number }
  | { status: "duplicate"; claimedAtMs: number; value: string | null };

/** What a confirmation changes: how long the claim holds from now on, and a value for later duplicates to see. */
export type Confirmation = { ttlMs?: number | undefined; value?: string | undefined };

/**
 * Says whether something happens for the first time within a while; the same on every store.
 *
 * Shape:  a claim holds for `ttlMs` from the moment it was made, that moment included and the end excluded; a duplicate
 *         does not extend it. When the clock was set back, a claim suppresses for at most its own `ttlMs` from then on.
 *         `confirm` and `release` answer false when the claim with that token is not in force any more, and do nothing.
 *         Every method may be called inside the caller's own transaction: what is rolled back was never claimed.
 * Errors: those of the store.
 */
export type Dedup = {
  claim(key: string, ttlMs: number): Claim | Promise<Claim>;
  confirm(key: string, token: string, confirmation?: Confirmation): boolean | Promise<boolean>;
  release(key: string, token: string): boolean | Promise<boolean>;
  /** Removes what has expired and answers how many entries that were. */
  prune(): number | Promise<number>;
};

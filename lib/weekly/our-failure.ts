/** What a call of the application came to, in codes; each is between the application and us. */
const CALL = /^APP_[A-Z0-9_]{1,60}$/;

const OTHERS = new Set<string | null>([
  "analysis_malformed",
  "social_left_out",
  "collection_lease_exhausted",
]);

/**
 * Whether a channel's reason is a failure of ours: the owner can do nothing about it, and is told so.
 *
 * Source: the codes of the analysis calls, `docs/codes.md`.
 */
export function isOurFailure(reason: string | null): boolean {
  return OTHERS.has(reason) || CALL.test(reason ?? "");
}

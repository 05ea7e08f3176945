import type { OutboxKind } from "../state/contract.ts";

/**
 * What a peer did last, since this process started.
 *
 * Units: epoch milliseconds.
 */
export type LatestOutcome = {
  deliveredAtMs: number | null;
  failure: { code: string; atMs: number } | null;
};

/** The latest delivery and the latest failure of each kind; `nowMs` is the clock that people read. */
export function latestOutcomes(nowMs: () => number) {
  const kinds = { message: nothingYet(), issue: nothingYet(), comment: nothingYet() };
  return {
    delivered(kind: OutboxKind): void {
      kinds[kind].deliveredAtMs = nowMs();
    },
    failed(kind: OutboxKind, code: string): void {
      kinds[kind].failure = { code, atMs: nowMs() };
    },
    read: (): Readonly<Record<OutboxKind, Readonly<LatestOutcome>>> => structuredClone(kinds),
  };
}

function nothingYet(): LatestOutcome {
  return { deliveredAtMs: null, failure: null };
}

import type { State } from "../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "./sample-alert.ts";

/** What was seen of a state whose disk became full and then had space again. */
export type FillReport = {
  /** The refusals of the batch that found the disk full. */
  refused: string[];
  isCheckRefused: boolean;
  /** Queued messages over accepted alerts, at the full disk: 1 when nothing half-done is left. */
  keptOfAccepted: number;
  isClaimFree: boolean;
  isCheckedAgain: boolean;
};

const MOST_BATCHES = 2_000;

/** Accepts until not even a small alert fits on the disk, then frees space and accepts again. */
export async function fillUp(state: State, makeRoom: () => void): Promise<FillReport> {
  const request = (at: number, length: number) => [
    sampleAlert({ fingerprint: `firing ${at}`, description: "x".repeat(length) }),
    resolvedAlert({ fingerprint: `resolved ${at}` }),
  ];
  let accepted = 0;
  let at = 0;
  let refused: string[] = [];
  for (const length of [10_000, 10]) {
    refused = [];
    for (const end = at + MOST_BATCHES; refused.length === 0 && at < end; at += 2) {
      const outcomes = await state.accept([request(at, length), request(at + 1, length)]);
      refused = outcomes.flatMap((outcome) => ("refused" in outcome ? [outcome.refused] : []));
      accepted += outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : [])).length;
    }
  }
  const isCheckRefused = await state.check().then(
    () => false,
    () => true,
  );
  const { message } = await state.stats();
  makeRoom();
  const [again] = await state.accept([request(at - 1, 10)]);
  const first = again && "accepted" in again ? again.accepted[0] : undefined;
  await state.check();
  return {
    refused,
    isCheckRefused,
    keptOfAccepted: message.queued / accepted,
    isClaimFree: first?.issue.status === "first",
    isCheckedAgain: true,
  };
}

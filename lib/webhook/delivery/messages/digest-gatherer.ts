import type { DueRow, State } from "../../state/contract.ts";

/** The messages that the next send tells together, the one that is due first; empty when each goes by itself. */
export type GatherDigest = (except: readonly number[]) => Promise<readonly DueRow[]>;

/**
 * Gathers messages once those that wait would take longer than `afterSeconds` at the pace; 0: never.
 *
 * Behaviour: `critical` messages are neither counted nor gathered.
 */
export function digestGatherer(
  state: Pick<State, "waitingMessages" | "digestible">,
  { afterSeconds, perMinute }: { afterSeconds: number; perMinute: number },
): GatherDigest {
  if (afterSeconds === 0) return () => Promise.resolve([]);
  const mostAlone = Math.floor((afterSeconds * perMinute) / 60);
  return async (except) => {
    if ((await state.waitingMessages(mostAlone + 1)) <= mostAlone) return [];
    return await state.digestible(except);
  };
}

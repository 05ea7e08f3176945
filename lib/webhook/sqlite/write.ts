import type { Alert } from "../alert.ts";
import type { AcceptOutcome } from "../state.ts";
import { type AcceptWorld, acceptor } from "./accept.ts";
import { type Settled, type SettleWorld, settler } from "./settle.ts";
import type { Transaction } from "./transaction.ts";

/** Records what has ended and accepts what has come, all in one commit. */
export type Write = (settled: readonly Settled[], requests: readonly (readonly Alert[])[]) => AcceptOutcome[];

/**
 * The one way in which alerts get into the outbox and out of it.
 *
 * Errors: those of SQLite when the whole transaction failed; then nothing was accepted and nothing settled.
 */
export function writer(world: AcceptWorld & SettleWorld & { transaction: Transaction }): Write {
  const { transaction, load, nowMs } = world;
  const settle = settler(world);
  const accept = acceptor(world);
  return (settled, requests) => {
    const now = nowMs();
    load.refresh(now);
    try {
      return transaction(() => {
        for (const one of settled) settle(one);
        return requests.map((alerts) => accept(alerts, now));
      });
    } catch (error) {
      load.forget();
      throw error;
    }
  };
}

import { RUN_PATIENCE_MS, repeatWhileLost } from "../database/refusals.ts";
import type { Run } from "./run.ts";
import type { Failure } from "./summary.ts";

/** Whether a failure is that the row of a message which was sent is gone. */
export function isLostSend({ code, providerMessageId }: Failure): boolean {
  return code === "delivery_row_lost" && providerMessageId !== undefined;
}

/**
 * Whether the ledger has lost rows of messages that this run has sent or met as sent, as after a failover to a replica
 * that lagged: an owner without a row may have had the message then.
 */
export async function hasLostRows({
  dependencies,
  stop,
  window,
  tally,
}: Pick<Run, "dependencies" | "stop" | "window" | "tally">): Promise<boolean> {
  const { whatsapp, failures } = tally;
  if (failures.some(isLostSend)) return true;
  const known = await repeatWhileLost(() => dependencies.store.countSentWhatsapp(window, { lost: 0 }), {
    ...dependencies,
    deadlineMs: dependencies.monotonicMs() + RUN_PATIENCE_MS,
    signal: stop.signal,
  });
  return known < whatsapp.sent + whatsapp.reused;
}

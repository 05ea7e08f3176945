import type { ClaimedDelivery, DeliveryClaim, DeliveryResult, Settled } from "../database/deliveries.ts";
import type { CompletedReport } from "../report/complete.ts";
import type { AttemptDependencies } from "./attempt.ts";
import type { DeliveryChannel } from "./channel.ts";
import type { SettleDependencies } from "./settle.ts";

/**
 * What one delivery of a report hands over to the next: its claim, when both could be asked for at once.
 *
 * Shape: `claimToken` is the next delivery's token, the same for each call; `askedAtMs` is when it was asked with first.
 */
export type HandOver = {
  next: DeliveryChannel | null;
  claimToken: string;
  askedAtMs: number | null;
  claimed: { claim: DeliveryClaim; release: () => void } | null;
};

/** A hand-over in which nothing has been asked for yet. */
export function newHandOver(next: DeliveryChannel | null): HandOver {
  return { next, claimToken: crypto.randomUUID(), askedAtMs: null, claimed: null };
}

/**
 * Settles a delivery, and claims the report's next one in the same round trip when its turn has come already.
 *
 * Behaviour: together it is tried once. Whatever fails then is left to the two calls alone, which may be asked again.
 */
export function settlerOf(
  dependencies: SettleDependencies & AttemptDependencies,
  handOver: HandOver,
  report: CompletedReport,
): (delivery: ClaimedDelivery, result: DeliveryResult) => Promise<Settled> {
  return async (delivery, result) => {
    const settled =
      handOver.askedAtMs === null
        ? await settleTogether(dependencies, handOver, report, { delivery, result })
        : null;
    return settled ?? (await dependencies.store.settleDelivery(delivery, result));
  };
}

function tryTurnOf({ doubts, pace }: DeliveryChannel): (() => void) | null {
  const leave = doubts.tryEnter();
  const release = leave === null ? null : pace.tryTurn();
  if (leave === null || release === null) {
    leave?.();
    return null;
  }
  return () => {
    release();
    leave();
  };
}

async function settleTogether(
  dependencies: AttemptDependencies,
  handOver: HandOver,
  { id, scope, payload, known }: CompletedReport,
  settling: { delivery: ClaimedDelivery; result: DeliveryResult },
): Promise<Settled | null> {
  const { next, claimToken } = handOver;
  if (!next?.settleAndClaim || next.leftOut || next.senderTenantId === null) return null;
  if (payload === null || known[next.name] !== undefined) return null;
  if (dependencies.stop.reason() !== null || next.stop.reason() !== null) return null;
  const release = tryTurnOf(next);
  if (release === null) return null;
  handOver.askedAtMs = dependencies.monotonicMs();
  try {
    const { settled, claim } = await next.settleAndClaim(
      settling,
      id,
      scope,
      next.senderTenantId,
      claimToken,
    );
    handOver.claimed = { claim, release };
    return settled;
  } catch {
    // The calls alone say what is wrong; both may be repeated, if this one took effect.
    release();
    return null;
  }
}

import type { ClaimedDelivery, DeliveryClaim, DeliveryResult, Settled } from "../database/deliveries.ts";
import type { ClaimedReport, ReportContent } from "../database/reports.ts";
import type { AttemptDependencies } from "./attempt.ts";
import type { DeliveryChannel } from "./channel.ts";
import type { CompletedReport } from "./completed-report.ts";
import type { SettleDependencies } from "./settle.ts";

/**
 * What one step of a report hands over to the delivery after it: its claim, when both could be asked for at once.
 *
 * Shape: `claimToken` is the next delivery's token, the same for each call; `askedAtMs` is when it was asked with
 *        first.
 */
export type HandOver = {
  next: DeliveryChannel | null;
  claimToken: string;
  askedAtMs: number | null;
  claimed: { claim: DeliveryClaim; release: () => void } | null;
};

type ClaimDependencies = Pick<AttemptDependencies, "stop" | "monotonicMs">;

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

function tryTurnOf({ doubts, rate }: DeliveryChannel): (() => void) | null {
  const leave = doubts.tryEnter();
  if (leave === null || rate.tryAcquire()) return leave;
  leave();
  return null;
}

async function settleTogether(
  dependencies: AttemptDependencies,
  handOver: HandOver,
  { id, scope, payload, known }: CompletedReport,
  settling: { delivery: ClaimedDelivery; result: DeliveryResult },
): Promise<Settled | null> {
  const { next } = handOver;
  if (!next?.settleAndClaim || payload === null || known[next.name] !== undefined) return null;
  const { settleAndClaim } = next;
  const both = await claimTogether(dependencies, handOver, (senderTenantId, claimToken) =>
    settleAndClaim(settling, id, scope, senderTenantId, claimToken),
  );
  return both?.settled ?? null;
}

/**
 * Stores a report, and claims its first delivery in the same round trip when its turn has come already; null when the
 * report has to be stored alone.
 *
 * Behaviour: as `settlerOf`. A claim that was handed over has to be used, or its `release` called.
 */
export async function persistTogether(
  dependencies: ClaimDependencies,
  handOver: HandOver,
  { report, content }: { report: ClaimedReport; content: ReportContent },
): Promise<{ payload: unknown } | null> {
  const { next } = handOver;
  if (!next?.persistAndClaim) return null;
  const { persistAndClaim } = next;
  return await claimTogether(dependencies, handOver, (senderTenantId, claimToken) =>
    persistAndClaim(report, content, senderTenantId, claimToken),
  );
}

/** What `ask` returned, its claim handed over; null when the claim has to wait, or when `ask` failed. */
async function claimTogether<T extends { claim: DeliveryClaim }>(
  { stop, monotonicMs }: ClaimDependencies,
  handOver: HandOver,
  ask: (senderTenantId: string, claimToken: string) => Promise<T>,
): Promise<T | null> {
  const { next, claimToken } = handOver;
  if (next === null || next.leftOut || next.senderTenantId === null) return null;
  if (stop.reason() !== null || next.stop.reason() !== null) return null;
  const release = tryTurnOf(next);
  if (release === null) return null;
  handOver.askedAtMs = monotonicMs();
  try {
    const both = await ask(next.senderTenantId, claimToken);
    handOver.claimed = { claim: both.claim, release };
    return both;
  } catch {
    // The calls alone say what is wrong; both may be repeated, if this one took effect.
    release();
    return null;
  }
}

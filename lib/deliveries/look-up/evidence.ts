/**
 * Something that a provider keeps and that belongs to a delivery, by its text or its tag.
 *
 * Shape: `providerStatus` is the provider's last word about it, where it has one.
 * Units: `sentAtMs` is the provider's clock.
 */
export type Evidence = { id: string; sentAtMs: number; providerStatus: string | null };

/** The last words of WhatsApp and of the e-mail provider about what they took and then did not send. */
const NOT_SENT = new Set(["ERROR", "failed", "canceled", "suppressed"]);

/** Whether the provider itself says that the message was not sent: then it is found, and a person decides. */
export function isNotSent({ providerStatus }: Evidence): boolean {
  return providerStatus !== null && NOT_SENT.has(providerStatus);
}

/** The delivery that evidence is sought for. */
export type Sought = { id: string; dispatchedAtMs: number };

/** What the evidence about one delivery proves; `not_found` proves nothing. */
export type EvidenceVerdict =
  | { status: "found"; evidence: Evidence }
  | { status: "not_found" }
  | { status: "not_unique"; code: string };

/** A send follows its dispatch within minutes. */
const WITHIN_MS = 10 * 60_000;
/** How far the provider's clock may be behind the database's. */
const CLOCKS_DIFFER_MS = 2_000;
/** What was sent before or later is asked for as well, so that the operator hears of it. */
const ASKED_BEFORE_MS = 10 * 60_000;
const ASKED_AFTER_MS = 60 * 60_000;

/** The time about which a provider is asked, both bounds included. */
export function askedTime(dispatchedAtMs: number): { fromMs: number; toMs: number } {
  return { fromMs: dispatchedAtMs - ASKED_BEFORE_MS, toMs: dispatchedAtMs + ASKED_AFTER_MS };
}

/**
 * Whether what was found can only be this delivery's: sent within ten minutes after the dispatch, an id that no other
 * delivery holds, and no second one like it.
 *
 * Shape:     `holders` are the deliveries that hold ids, by the id; one may be this delivery itself, which another
 *            operator has settled meanwhile.
 * Behaviour: the same id twice is one message, of which the provider keeps two rows.
 */
export function decideEvidence(
  found: readonly Evidence[],
  { id: deliveryId, dispatchedAtMs }: Sought,
  holders: ReadonlyMap<string, string>,
): EvidenceVerdict {
  if (found.length === 0) return { status: "not_found" };
  const inTime = found.filter(({ sentAtMs }) => followsDispatch(sentAtMs, dispatchedAtMs));
  if (inTime.length === 0) return { status: "not_unique", code: "evidence_outside_time" };
  const own = inTime.filter(({ id }) => (holders.get(id) ?? deliveryId) === deliveryId);
  const [evidence, ...others] = new Map(own.map((one) => [one.id, one])).values();
  if (evidence === undefined) return { status: "not_unique", code: "evidence_of_another_delivery" };
  if (others.length > 0) return { status: "not_unique", code: "evidence_several" };
  return { status: "found", evidence };
}

/** The gateway's clock shows whole seconds only. */
function followsDispatch(sentAtMs: number, dispatchedAtMs: number): boolean {
  const earliestMs = Math.floor(dispatchedAtMs / 1000) * 1000 - CLOCKS_DIFFER_MS;
  return sentAtMs >= earliestMs && sentAtMs <= dispatchedAtMs + WITHIN_MS;
}

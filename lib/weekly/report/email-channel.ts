import type { WeekBounds } from "../../ledger/week-state.ts";
import type { EmailCounts } from "../database/evidence.ts";
import { type Payload, unavailableChannel } from "../payload.ts";
import { type EmailMetrics, emailInsights } from "./email-insights.ts";

/**
 * The e-mail channel: the week's sends, their last known state and what they have reached inside the week.
 *
 * Units:     counts of sends; rates are fractions 0 to 1 of the sends that have an event, four decimals.
 * Behaviour: a send without an event is not known, so one of them makes the channel partial; when more than half are
 *            not known, the rates are null. Delivery, open and click rate follow what was reached, the bounce rate
 *            follows the last state.
 * Source:    weekly report document, Payload V1.
 */
export function emailChannel(counts: EmailCounts | null, window: WeekBounds): Payload["channels"]["email"] {
  if (counts === null) return unavailableChannel("no_sends_in_window");
  const metrics = counts.events > 0 ? knownMetrics(counts) : unknownMetrics(counts.sends);
  const reason = reasonOf(counts);
  const range = { rowId: null, rangeStart: window.start, rangeEnd: window.end, items: [] };
  return {
    status: "available",
    coverageStatus: reason === null ? "complete" : "partial",
    reason,
    metrics,
    insights: emailInsights(metrics),
    evidence: [
      { sourceTable: "resend_email_sends", ...range, count: counts.sends },
      { sourceTable: "resend_email_events", ...range, count: counts.events },
    ],
  };
}

function reasonOf({ sends, events }: EmailCounts): string | null {
  if (events === sends) return null;
  return events === 0 ? "no_events_in_window" : "events_incomplete";
}

function knownMetrics({ events, ...counts }: EmailCounts): EmailMetrics {
  const { sends, reached, bounced } = counts;
  const isEnough = events * 2 >= sends;
  const rate = (part: number) => (isEnough ? Math.round((part * 10_000) / events) / 10_000 : null);
  return {
    ...counts,
    noEvent: sends - events,
    deliveryRate: rate(reached.delivered),
    openRate: rate(reached.opened),
    clickRate: rate(reached.clicked),
    bounceRate: rate(bounced),
  };
}

// No event of the week has reached the mirror: only the number of sends is known.
function unknownMetrics(sends: number): EmailMetrics {
  return {
    sends,
    delivered: null,
    opened: null,
    clicked: null,
    bounced: null,
    complained: null,
    failed: null,
    delayed: null,
    suppressed: null,
    noEvent: null,
    deliveryRate: null,
    openRate: null,
    clickRate: null,
    bounceRate: null,
    reached: { delivered: null, opened: null, clicked: null },
  };
}

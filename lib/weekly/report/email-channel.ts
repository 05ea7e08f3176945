import type { EmailCounts } from "../database/evidence.ts";
import type { WindowBounds } from "../database/reports.ts";
import { type Channel, unavailableChannel } from "../payload.ts";
import { emailInsights } from "./email-insights.ts";

/**
 * The e-mail channel: the week's sends and their last known state inside the week.
 *
 * Units:  counts of sends; rates are fractions 0 to 1 of all sends, four decimals.
 * Source: weekly report document, Payload V1; clicked counts as opened, and opened, clicked and complained as delivered.
 */
export function emailChannel(counts: EmailCounts | null, window: WindowBounds): Channel {
  if (counts === null) return unavailableChannel("no_sends_in_window");
  const known = counts.events > 0;
  const metrics = known ? knownMetrics(counts) : unknownMetrics(counts.sends);
  const range = { rowId: null, rangeStart: window.start, rangeEnd: window.end, items: [] };
  return {
    status: "available",
    coverageStatus: known ? "complete" : "partial",
    reason: known ? null : "no_events_in_window",
    metrics,
    insights: emailInsights(metrics),
    evidence: [
      { sourceTable: "resend_email_sends", ...range, count: counts.sends },
      { sourceTable: "resend_email_events", ...range, count: counts.events },
    ],
  };
}

function knownMetrics(counts: EmailCounts) {
  const { sends, events, delivered, opened, clicked, bounced, complained, failed, delayed, suppressed } =
    counts;
  const rate = (part: number) => (sends === 0 ? null : Math.round((part * 10_000) / sends) / 10_000);
  return {
    sends,
    delivered,
    opened,
    clicked,
    bounced,
    complained,
    failed,
    delayed,
    suppressed,
    noEvent: sends - events,
    deliveryRate: rate(delivered + opened + clicked + complained),
    openRate: rate(opened + clicked),
    clickRate: rate(clicked),
    bounceRate: rate(bounced),
  };
}

// No event of the week has reached the mirror: only the number of sends is known.
function unknownMetrics(sends: number) {
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
  };
}

import * as v from "valibot";
import { weekCountsSchema } from "./week-counts.ts";

const instant = v.pipe(v.string(), v.maxLength(40), v.isoTimestamp());
const week = v.pipe(v.string(), v.isoDate());

/** An alert that was posted and has not been resolved; `week` and `fingerprint` are those of the alert. */
const announcementSchema = v.object({ week, fingerprint: v.string(), startsAt: instant });

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** How many WhatsApp messages of a week were sent, by all runs and hosts, as this host saw it last. */
const sentSchema = v.object({
  week,
  whatsapp: count,
  /** Of how many of them the row was gone before they were recorded: the ledger counts each as an erased owner's. */
  lost: v.optional(count, 0),
});

/** What a run that has not begun yet waits for; its times are those of this host's clock. */
const waitingSchema = v.object({
  waitsFor: v.literal("database"),
  code: v.string(),
  since: instant,
  until: instant,
});

const lastRunSchema = v.looseObject({
  status: v.picklist(["running", "success", "failed", "not_ready"]),
  runId: v.string(),
  /** When the last run that began did so; one that did not get so far keeps what was there. */
  begunAt: v.nullable(instant),
  window: v.nullable(v.object({ start: instant, end: instant, week })),
  retryableUntil: v.nullable(instant),
  error: v.nullable(v.object({ code: v.string() })),
  week: v.optional(v.nullable(weekCountsSchema), null),
  process: v.object({ host: v.string(), pid: v.number(), startTicks: v.nullable(v.number()) }),
  announcement: v.nullable(announcementSchema),
  /** When a run ended that had not begun, by this host's clock: it may have met no other. */
  refusedAt: v.optional(v.nullable(instant), null),
  waiting: v.optional(v.nullable(waitingSchema), null),
  sent: v.optional(v.nullable(sentSchema), null),
});

/** An alert that was posted and has not been resolved. */
export type Announcement = v.InferOutput<typeof announcementSchema>;

/** What a run that has not begun yet waits for, since when and until when at most. */
export type Waiting = v.InferOutput<typeof waitingSchema>;

/**
 * What the last weekly run of this host left: while it goes on `running`, afterwards its summary in ids and codes.
 *
 * Shape: the keys of the summary that readers use, `begunAt`, `process` and `announcement`; the others of the summary
 *        are there too and are kept when the file is brought up to date. Instants are those of the database's clock.
 *        With `waiting` the run is `running` and has not begun: week and window are still those of the run before.
 *        `sent` stays until a run has counted anew, so that a ledger which went back is noticed.
 */
export type LastRun = v.InferOutput<typeof lastRunSchema>;

/** The WhatsApp messages of one week that are known to be sent, as `LastRun` has them. */
export type SentBefore = Pick<NonNullable<LastRun["sent"]>, "whatsapp" | "lost">;

/** The last run in the text of its file; null when the text is something else. */
export function parseLastRun(text: string): LastRun | null {
  try {
    const parsed = v.safeParse(lastRunSchema, JSON.parse(text));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

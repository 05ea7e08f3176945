/**
 * States of a week: what the ledger and the record of the last run have, at one time. What each command that looks at
 * it says of it is in tests/golden/week-states.txt.
 */
import type { DeliveryKind, OwnerKind } from "../reports/support/week.ts";

/** The record that a run of this host left, where it is not that of a success; its process may have ended or be elsewhere. */
export type RunRecord = { process?: "works" | "ended" | "elsewhere" } & Record<string, unknown>;

/** A state of a week. */
export type WeekState = {
  name: string;
  /** The clock of the database and of the host. */
  at: string;
  owners: readonly OwnerKind[];
  /** Owners who were reported a week earlier and get no reports any more. */
  before?: number;
  /** What came of the networks of each owner. */
  networks?: readonly string[][];
  /** Without a record no run of this host has been. */
  run?: RunRecord;
  /** The text of the record, where it is none. */
  runFile?: string;
  /** Whether there is a file of the last full success. */
  heartbeat?: boolean;
  /** The database cannot be reached. */
  noDatabase?: boolean;
};

const at = (date: string, time: string) => new Date(`${date}T${time}-03:00`).toISOString();
const EARLY = at("2026-11-23", "07:59:59");
const STARTED = at("2026-11-23", "08:00:00");
const NOT_LATE = at("2026-11-23", "08:14:59");
const LATE = at("2026-11-23", "08:15:00");
const WORKING = at("2026-11-23", "08:25:00");
const MONDAY = at("2026-11-23", "12:00:00");
const LAST_MINUTE = at("2026-11-23", "23:59:00");
const TUESDAY = at("2026-11-24", "00:00:00");
const NEXT_EARLY = at("2026-11-30", "08:14:59");
const NEXT_LATE = at("2026-11-30", "08:15:00");

const DONE: OwnerKind = { report: "completed", whatsapp: "sent", email: "sent" };
const MISSING: OwnerKind = { report: "missing" };
const IN_WORK: OwnerKind = { report: "running" };
/** An owner whose message, or whose e-mail, is all that is not sent. */
const message = (whatsapp: DeliveryKind): OwnerKind => ({ ...DONE, whatsapp });
const email = (kind: DeliveryKind): OwnerKind => ({ ...DONE, email: kind });
/** The same for one who gets no reports any more. */
const left = (owner: OwnerKind): OwnerKind => ({ ...owner, isEligible: false });

const SUCCEEDED: RunRecord = {};
const FAILED: RunRecord = { status: "failed", error: { code: "APP_HTTP_401" }, heartbeat: "kept" };
/** A run that ended before it could begin. */
const REFUSED: RunRecord = {
  status: "not_ready",
  error: { code: "CONFIG_INVALID" },
  refusedAt: "2026-11-23T11:00:02Z",
  window: null,
};
const WENT_BACK: RunRecord = { ...REFUSED, error: { code: "LEDGER_WENT_BACK" } };
const RUNNING: RunRecord = { status: "running", finishedAt: null, heartbeat: null };
const WAITING: RunRecord = {
  status: "running",
  waiting: {
    waitsFor: "database",
    code: "57P03",
    since: "2026-11-23T11:00:03Z",
    until: "2026-11-23T11:05:03Z",
  },
};
const WEEK_BEFORE: RunRecord = {
  window: { start: "2026-11-09T03:00:00Z", end: "2026-11-16T03:00:00Z", week: "2026-11-09" },
  begunAt: "2026-11-16T11:00:00Z",
};

const week = (
  name: string,
  at: string,
  owners: readonly OwnerKind[],
  rest: Omit<WeekState, "name" | "at" | "owners"> = {},
): WeekState => ({ name, at, owners, ...rest });

/** What a run counted when it ended. */
const UNKNOWN_RESULTS = {
  ...{ owners: 3, reports: { completed: 3, running: 0, failed: 0, missing: 0 } },
  whatsapp: { sent: 0, partial: 0, failed: 0, unknown: 3, running: 0, missing: 0 },
  email: { sent: 3, partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 },
  ...{ social: { connected: 0, failed: 0, owners: 0 }, before: null },
  noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
};

/** The states, from the morning of a Monday on. */
export const WEEK_STATES: readonly WeekState[] = [
  week("no run of any week, before 08:15", NOT_LATE, [MISSING, MISSING]),
  week("no run of any week, from 08:15 on", LATE, [MISSING, MISSING]),
  week("no run of any week, in the last minute of the Monday", LAST_MINUTE, [MISSING, MISSING]),
  week("no run of any week, the day after", TUESDAY, [MISSING, MISSING]),
  week("no run of any week and no owner", LATE, []),
  week("no run, on a host that had one the week before", LATE, [MISSING], { before: 1, run: WEEK_BEFORE }),
  week("a Monday that was missed", TUESDAY, [MISSING], { before: 1, run: WEEK_BEFORE }),
  week("no owner any more and no run, on a host that had one the week before", LATE, [], {
    before: 1,
    run: WEEK_BEFORE,
  }),
  week("no owner any more and no run, before 08:15", NOT_LATE, [], { before: 1, run: WEEK_BEFORE }),
  week("no owner any more and no run, on a host that only looks", LATE, [], { before: 1 }),
  week("one tenant by hand before 08:00", EARLY, [DONE, MISSING]),
  week("one tenant by hand, once cron has started the run", STARTED, [DONE, MISSING]),
  week("all owners by hand before 08:00", EARLY, [DONE]),
  week("a whole run by hand before 08:00 that failed", EARLY, [message("failed")], { run: FAILED }),
  week("all sent", MONDAY, [DONE, DONE], { run: SUCCEEDED }),
  week("all sent by another host", MONDAY, [DONE]),
  week("a report failed", MONDAY, [DONE, { report: "failed" }], { run: FAILED }),
  week("a report's lease has ended", MONDAY, [DONE, { report: "left" }], { run: FAILED }),
  week("an owner without a report", MONDAY, [DONE, MISSING], { run: SUCCEEDED }),
  week("an owner without a report, the day after", TUESDAY, [DONE, MISSING], { run: SUCCEEDED }),
  week(
    "an owner without a report beside a failed e-mail, the day after",
    TUESDAY,
    [email("failed"), MISSING],
    { run: FAILED },
  ),
  week("a message failed", MONDAY, [message("failed")], { run: FAILED }),
  week("a message failed, the day after", TUESDAY, [message("failed")], { run: FAILED }),
  week("a message failed, when the next week has closed", NEXT_EARLY, [message("failed")], { run: FAILED }),
  week("a message is missing", MONDAY, [message("missing")], { run: SUCCEEDED }),
  week("a message with an unknown result", MONDAY, [message("unknown")], { run: FAILED }),
  week("a message with an unknown result, the day after", TUESDAY, [message("unknown")], { run: FAILED }),
  week("a message with an unknown result, when the next week has closed", NEXT_EARLY, [message("unknown")], {
    run: FAILED,
  }),
  week("an e-mail whose lease ended after its dispatch", MONDAY, [email("left_after_dispatch")], {
    run: FAILED,
  }),
  week("an e-mail whose lease ended before its dispatch", MONDAY, [email("left_before_dispatch")], {
    run: FAILED,
  }),
  week("a timeline entry is missing", MONDAY, [message("partial")], { run: FAILED }),
  week("a timeline entry is missing, the day after", TUESDAY, [message("partial")], { run: FAILED }),
  week("a message with an unknown result and a failed one", MONDAY, [message("unknown"), message("failed")], {
    run: FAILED,
  }),
  week(
    "a message with an unknown result, and a timeline entry is missing",
    MONDAY,
    [message("unknown"), message("partial")],
    { run: FAILED },
  ),
  week(
    "an e-mail failed and one has an unknown result, the day after",
    TUESDAY,
    [email("failed"), email("unknown")],
    { run: FAILED },
  ),
  week("all networks failed", MONDAY, [DONE], { networks: [["failed"]], run: FAILED }),
  week("all networks failed, the day after", TUESDAY, [DONE], { networks: [["failed"]], run: FAILED }),
  week("more than a tenth of the networks failed, of three owners", MONDAY, [DONE, DONE, DONE], {
    networks: [
      ["ok", "failed"],
      ["ok", "failed"],
      ["ok", "failed"],
    ],
    run: FAILED,
  }),
  week("networks of two owners failed", MONDAY, [DONE, DONE, DONE], {
    networks: [
      ["ok", "failed"],
      ["ok", "failed"],
      ["ok", "ok"],
    ],
    run: SUCCEEDED,
  }),
  week("what failed is of an owner who gets no reports any more", MONDAY, [DONE, left(message("failed"))], {
    run: FAILED,
  }),
  week(
    "a message with an unknown result is of an owner who gets no reports any more",
    MONDAY,
    [DONE, left(message("unknown"))],
    { run: FAILED },
  ),
  week("a run goes on", MONDAY, [DONE, MISSING], { run: RUNNING }),
  week("a run goes on in the process of another host", MONDAY, [DONE, MISSING], {
    run: { ...RUNNING, process: "elsewhere" },
  }),
  week("a run of another host works", WORKING, [DONE, email("running")]),
  week("a run of another host works and has reached only one", WORKING, [IN_WORK, MISSING]),
  week("a run was killed", WORKING, [email("running"), MISSING], { run: { ...RUNNING, process: "ended" } }),
  week("a run was killed, the day after", TUESDAY, [email("running"), MISSING], {
    run: { ...RUNNING, process: "ended" },
  }),
  week("a run was killed when all was sent", MONDAY, [DONE], { run: { ...RUNNING, process: "ended" } }),
  week("a run waits for the database", STARTED, [MISSING], { run: WAITING }),
  week("a run was killed while it waited", MONDAY, [MISSING], { run: { ...WAITING, process: "ended" } }),
  week("a run was killed while it waited, and another host's works", WORKING, [IN_WORK], {
    run: { ...WAITING, process: "ended" },
  }),
  week("a run was interrupted while it waited", MONDAY, [MISSING], {
    run: { ...REFUSED, status: "failed", error: { code: "RUN_INTERRUPTED" } },
  }),
  week("a run found no settings", MONDAY, [MISSING], { run: REFUSED }),
  week("a run found no settings, and something is open", MONDAY, [message("failed")], { run: REFUSED }),
  week("a run found no settings, and all is sent", MONDAY, [DONE], { run: REFUSED }),
  week("a run found no settings on a host that only looks, and all is sent", MONDAY, [DONE], {
    run: { ...REFUSED, begunAt: null },
  }),
  week("a run found no settings, and another host works", WORKING, [IN_WORK], { run: REFUSED }),
  week("a run found a ledger without the week that it had sent", MONDAY, [MISSING, MISSING], {
    run: WENT_BACK,
  }),
  week("a run found a ledger without a part of what it had sent", MONDAY, [DONE, MISSING], {
    run: WENT_BACK,
  }),
  week("a run found a ledger that went back, and nothing is open any more", MONDAY, [DONE], {
    run: WENT_BACK,
  }),
  week("a run found a ledger that went back, the day after", TUESDAY, [MISSING], { run: WENT_BACK }),
  week("a run found a ledger that went back, and another host works", WORKING, [DONE, IN_WORK], {
    run: WENT_BACK,
  }),
  week("a failed run, and all is settled since", MONDAY, [DONE], { run: FAILED }),
  week("a failed run, and all is settled since, the day after", TUESDAY, [DONE], { run: FAILED }),
  week("a failed run, and all is settled since, until the next run is late", NEXT_EARLY, [DONE], {
    run: FAILED,
  }),
  week("a failed run, and all is settled since, once the next run is late", NEXT_LATE, [DONE], {
    run: FAILED,
  }),
  week("the editorials failed", MONDAY, [DONE], {
    run: {
      ...FAILED,
      error: null,
      failures: [{ step: "social", code: "APP_HTTP_401" }],
      editorials: { status: "failed", code: "WORKER_HTTP_401" },
    },
  }),
  week("the editorials failed, and the result of a message is unknown", MONDAY, [message("unknown")], {
    run: { ...FAILED, error: null, editorials: { status: "failed", code: "WORKER_HTTP_401" } },
  }),
  week("the heartbeat could not be written", MONDAY, [DONE], {
    run: { ...FAILED, error: null, heartbeat: "failed" },
  }),
  week("the heartbeat could not be written, the day after", TUESDAY, [DONE], {
    run: { ...FAILED, error: null, heartbeat: "failed" },
  }),
  week("the heartbeat was removed", MONDAY, [DONE], { run: SUCCEEDED, heartbeat: false }),
  week("the heartbeat was removed, the day after", TUESDAY, [DONE], { run: SUCCEEDED, heartbeat: false }),
  week("a run left the networks out", MONDAY, [DONE], { run: { heartbeat: "kept" } }),
  week("a run left the networks out, the day after", TUESDAY, [DONE], { run: { heartbeat: "kept" } }),
  week("nobody gets a report any more", MONDAY, [], { before: 1, run: SUCCEEDED }),
  week("ten owners fewer, and less than half", MONDAY, [DONE], { before: 11, run: SUCCEEDED }),
  week("half as many owners as before", MONDAY, Array(10).fill(DONE), { before: 20, run: SUCCEEDED }),
  week("nine owners fewer", MONDAY, [DONE], { before: 10, run: SUCCEEDED }),
  week("reported owners who get no report any more", MONDAY, [left(DONE)], { before: 1, run: SUCCEEDED }),
  week("the record of the last run is torn", MONDAY, [DONE], { runFile: "{" }),
  week("a run failed by the application's refusal and by a single connection", MONDAY, [message("failed")], {
    run: {
      ...FAILED,
      error: null,
      failures: [
        { step: "social", code: "APP_HTTP_401" },
        { step: "whatsapp", code: "recipient_phone_missing" },
      ],
    },
  }),
  week("the database cannot be reached after a run that succeeded", MONDAY, [], {
    run: SUCCEEDED,
    noDatabase: true,
  }),
  week("the database cannot be reached after a run that left results unknown", MONDAY, [], {
    run: { ...FAILED, week: UNKNOWN_RESULTS },
    noDatabase: true,
  }),
  week(
    "the database cannot be reached after a run of which nothing more is known, the day after",
    TUESDAY,
    [],
    { run: FAILED, noDatabase: true },
  ),
  week(
    "the database cannot be reached after a run of which nothing more is known, a week later",
    NEXT_LATE,
    [],
    { run: FAILED, noDatabase: true },
  ),
  week("the database cannot be reached, and no run has been", MONDAY, [], { noDatabase: true }),
];

import { describe, expect, test } from "bun:test";
import type { WeekState } from "../../../lib/ledger/week-state.ts";
import { type AnnouncementChoice, decideAnnouncement } from "../../../lib/weekly/announce/decide.ts";
import {
  createTally,
  FAILURES_SHOWN,
  type Failure,
  noEditorials,
  type WeeklySummary,
} from "../../../lib/weekly/context/summary.ts";
import { WEEK } from "../../support/seed.ts";
import { failedWith, notReady, START, summaryOf, weekOf } from "./support.ts";

const HELD = { week: WEEK.week, fingerprint: "f", startsAt: START.startedAt };
const NOBODY = { held: null, week: WEEK.week };
const PHONE: Failure = { step: "whatsapp", code: "recipient_phone_missing" };
const EMAIL: Failure = { step: "email", code: "recipient_email_missing" };
const BUSY: Failure = { step: "report", code: "report_busy" };
const SENDING: Failure = { step: "email", code: "delivery_busy" };
const OPEN: Failure = { step: "week", code: "WEEK_OPEN" };
const GATEWAY: Failure = { step: "whatsapp", code: "gateway_http_500" };
const ONE_CONNECTION: Failure = { step: "social", code: "APP_HTTP_500" };

const critical: AnnouncementChoice = { status: "firing", severity: "critical" };
const warning: AnnouncementChoice = { status: "firing", severity: "warning" };
const none: AnnouncementChoice = { status: "none" };

/** With one report in work elsewhere, and another's e-mail. */
const inWork = weekOf({ reports: { running: 1, completed: 9 }, email: { running: 1, sent: 8 } });
const withBusy = (busy: number) => ({ ...summaryOf().reports, busy });

type Row = [name: string, summary: WeeklySummary, choice: AnnouncementChoice];
const open = (changes: Parameters<typeof weekOf>[0]): { week: WeekState } => ({ week: weekOf(changes) });

/** What is no owner's: it makes every failure critical. */
const OF_THE_RUN: [string, Partial<WeeklySummary>][] = [
  ["the drain failed", { editorials: noEditorials("failed", "WORKER_TIMEOUT") }],
  ["no heartbeat", { heartbeat: "failed" }],
  ["the run broke off", { error: { code: "DATABASE_LOST", message: "" } }],
];
const DEGRADED: Failure = { step: "social", code: "SOCIAL_DEGRADED" };
const UNREADABLE: Failure = { step: "week", code: "WEEK_UNREADABLE" };
const oneMissing = open({ whatsapp: { missing: 1 } });
const twoMissing = open({ whatsapp: { missing: 2 } });

const ROWS: Row[] = [
  ["a success that nobody waits for", summaryOf(), none],
  ["no failure that has a name", failedWith([]), critical],
  ["refused as not ready", notReady("DATABASE_UNREACHABLE"), critical],
  ["a failed delivery", failedWith([GATEWAY], open({ whatsapp: { failed: 1, sent: 9 } })), critical],
  ["recipients alone", failedWith([PHONE, EMAIL], open({ whatsapp: { failed: 1, sent: 9 } })), warning],
  ["recipients, and one connection's failure", failedWith([ONE_CONNECTION, PHONE]), warning],
  ["recipients and something else", failedWith([PHONE, GATEWAY]), critical],
  ["recipients, and no ledger", failedWith([PHONE], { week: null }), warning],
  ["recipients, and an unknown result", failedWith([PHONE], open({ email: { unknown: 1 } })), critical],
  ["recipients, and busy elsewhere", failedWith([PHONE, BUSY], open({ reports: { running: 1 } })), warning],
  ["busy elsewhere", failedWith([BUSY, SENDING], { week: inWork, reports: withBusy(1) }), none],
  ["busy, and one connection's failure", failedWith([ONE_CONNECTION, BUSY], { week: inWork }), none],
  ["busy by the ledger alone", failedWith([OPEN], { week: inWork }), none],
  ["busy, and too many networks failed", failedWith([DEGRADED, BUSY], { week: inWork }), critical],
  ["busy, and no ledger", failedWith([UNREADABLE, BUSY], { week: null }), critical],
  ["busy, and a report just completed", failedWith([BUSY], { ...oneMissing, reports: withBusy(1) }), none],
  ["more is missing than busy", failedWith([BUSY], { ...twoMissing, reports: withBusy(1) }), critical],
  ["a missing report", failedWith([OPEN], open({ reports: { running: 1, missing: 1 } })), critical],
  ["nothing busy", failedWith([OPEN], open({ email: { missing: 1, sent: 9 } })), critical],
  [
    "busy by the ledger, and an unknown result",
    failedWith([OPEN], open({ email: { running: 1, unknown: 1, partial: 1 } })),
    critical,
  ],
  ...(["reports", "whatsapp", "email"] as const).map(
    (part): Row => [`busy ${part} alone`, failedWith([OPEN], open({ [part]: { running: 1 } })), none],
  ),
  ...(["whatsapp", "email"] as const).map(
    (part): Row => [
      `busy, and a failed ${part} of before`,
      failedWith([BUSY], open({ [part]: { failed: 1, sent: 9 } })),
      critical,
    ],
  ),
  ...OF_THE_RUN.flatMap(([name, changes]): Row[] => [
    [`recipients, and ${name}`, failedWith([PHONE], changes), critical],
    [`busy, and ${name}`, failedWith([BUSY], { week: inWork, ...changes }), critical],
  ]),
];

describe("decideAnnouncement()", () => {
  test.each(ROWS)("%s", (_name, summary, choice) => {
    expect(decideAnnouncement(summary, NOBODY)).toEqual(choice);
  });

  test("resolves with a success of the week that was announced from here, and of no other", () => {
    expect(decideAnnouncement(summaryOf(), { held: HELD, week: WEEK.week })).toEqual({ status: "resolved" });
    const older = { ...HELD, week: "2026-11-09" };
    expect(decideAnnouncement(summaryOf(), { held: older, week: WEEK.week })).toEqual(none);
  });

  test("announces every failed run, also the second of a week", () => {
    expect(decideAnnouncement(failedWith([GATEWAY]), { held: HELD, week: WEEK.week })).toEqual(critical);
  });

  test("keeps among a hundred failures those that decide, in whatever order they came", () => {
    const tally = createTally();
    for (let i = 0; i < 3 * FAILURES_SHOWN; i += 1) tally.fail([ONE_CONNECTION, PHONE, BUSY][i % 3]!);
    expect(decideAnnouncement(failedWith([...tally.failures]), NOBODY)).toEqual(warning);
    tally.fail(GATEWAY);
    expect(tally.failures).toHaveLength(FAILURES_SHOWN);
    expect(decideAnnouncement(failedWith(tally.failures), NOBODY)).toEqual(critical);
  });
});

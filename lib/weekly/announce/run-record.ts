import type { Announcement, LastRun, SentBefore } from "../../last-run/last-run.ts";
import { ownProcessMark, type ProcessMark } from "../../last-run/process-mark.ts";
import type { Log } from "../../platform/log/log.ts";
import { Temporal } from "../../time/temporal.ts";
import { weekWindow } from "../../time/week-window.ts";
import { isLostSend } from "../context/lost-rows.ts";
import type { DatabaseWait, RunStart } from "../context/run-start.ts";
import type { WeeklySummary } from "../context/summary.ts";
import { type AlertWebhook, type AnnounceDependencies, announce } from "./announce.ts";
import { type AnnouncementChoice, decideAnnouncement } from "./decide.ts";
import { lastRunOf, type RecordFacts, runningOf, waitingOf } from "./last-run-of.ts";
import { isOtherRun, leavesFileToOther } from "./other-run.ts";
import { type RecordFile, recordFile } from "./record-file.ts";
import { renderFiring, renderResolved, weekFingerprint } from "./render-alert.ts";

/**
 * What keeping the record of a run needs.
 *
 * Shape: `isWhole` is false for a run that leaves something out: it writes no last-run file and announces nothing.
 *        `logDir` is null where the settings name no usable one, `webhook` where nothing is announced.
 */
export type RecordDependencies = AnnounceDependencies & {
  isWhole: boolean;
  logDir: string | null;
  webhook: AlertWebhook | null;
  log: Log;
  host: string;
  /** This process, unless it is another one that is recorded. */
  process?: ProcessMark;
  nowMs(): number;
};

/** The record of one run: when it began, how it ended, and who was told. */
export type RunRecord = {
  /** How many WhatsApp messages of this week this host knows to be sent, and of how many the row was lost. */
  sentBefore(week: string): SentBefore;
  /** The run waits for the database before it can begin: for its first connection or for an answer. */
  wait(wait: DatabaseWait): void;
  /** The run writes from here on. */
  begin(start: RunStart): void;
  /** Records and announces the end, once; the summary says in `announced` what became of it. */
  end(summary: WeeklySummary): Promise<WeeklySummary>;
};

type Announced = WeeklySummary["announced"];

/**
 * The record of a run that is about to begin.
 *
 * Behaviour: nothing here changes how the run ends: what cannot be written or told is logged. The end is written before
 *            it is announced and again afterwards, so that a process that is killed meanwhile leaves its verdict and
 *            never forgets an alert that may have been taken. While another run of this host goes on, the file is
 *            that run's.
 */
export function createRunRecord(dependencies: RecordDependencies): RunRecord {
  const { isWhole, logDir, webhook, log } = dependencies;
  const process = dependencies.process ?? ownProcessMark();
  const file = recordFile(logDir, log);
  let begun: RunStart | null = null;
  let hasOverlapped = false;
  let announced: Promise<Announced> | null = null;
  /** What the file held before the run waited for the first time. */
  let replaced: { run: LastRun | null } | null = null;

  async function recordEnd(given: WeeklySummary): Promise<Announced> {
    const summary = withStart(given, begun);
    const before = file.read();
    const begunAt = begun?.startedAt ?? before?.begunAt ?? null;
    const sent = sentIn(summary, before?.sent ?? null);
    const refusedAt = begun === null ? new Date(dependencies.nowMs()).toISOString() : null;
    const write = endWriter(file, summary, { begunAt, process, sent, refusedAt, hasOverlapped });
    return await announceEnd(dependencies, summary, { held: heldIn(before), write });
  }

  return {
    sentBefore: (week) => sentOf(file.read()?.sent ?? null, week),
    wait({ code, limitMs, ...run }) {
      const before = file.read();
      if (!isWhole || isOtherRun(before, process)) return;
      const sinceMs = dependencies.nowMs();
      const [since, until] = [sinceMs, sinceMs + limitMs].map((ms) => new Date(ms).toISOString());
      replaced ??= { run: before };
      const waiting = { waitsFor: "database", code, since: since!, until: until! } as const;
      file.write(waitingOf(run, { before, process, waiting }));
    },
    begin(start) {
      if (!isWhole) return;
      begun = start;
      const before = file.read();
      hasOverlapped = isOtherRun(before, process);
      if (hasOverlapped) return;
      file.write(runningOf(start, { process, announcement: heldIn(before), sent: before?.sent ?? null }));
    },
    async end(summary) {
      if (!isWhole || summary.status === "refused") {
        if (replaced !== null) file.write(replaced.run);
        return { ...summary, announced: webhook === null ? "off" : "none" };
      }
      announced ??= recordEnd(summary).catch((error: unknown) => brokeDown(log, error));
      return { ...summary, announced: await announced };
    },
  };
}

/** A fault of opsctl itself must not take the run's own result with it. */
function brokeDown(log: Log, error: unknown): Announced {
  const cause = error instanceof Error ? error.name : "unknown";
  log.error("The end of the run could not be recorded", { code: "ANNOUNCE_FAILED", cause });
  return "failed";
}

type Ending = {
  held: Announcement | null;
  write: (as: Announced, announcement: Announcement | null) => Announced;
};

/** Writes the end to the file; where that is another run's, its record stays and only the announcement is replaced. */
function endWriter(
  file: RecordFile,
  summary: WeeklySummary,
  { hasOverlapped, ...facts }: Omit<RecordFacts, "announcement"> & { hasOverlapped: boolean },
): Ending["write"] {
  return (as, announcement) => {
    const other = file.read();
    if (other === null || !leavesFileToOther(summary, { file: other, own: facts.process, hasOverlapped }))
      file.write(lastRunOf({ ...summary, announced: as }, { ...facts, announcement }));
    else if (JSON.stringify(other.announcement) !== JSON.stringify(announcement))
      file.write({ ...other, announcement });
    return as;
  };
}

/** Writes and tells the end; an alert that may have been taken stays in the file until it is resolved. */
async function announceEnd(
  dependencies: RecordDependencies,
  summary: WeeklySummary,
  { held, write }: Ending,
): Promise<Announced> {
  const { webhook, nowMs, log, host } = dependencies;
  if (webhook === null) return write("off", held);
  const week = summary.window?.week ?? weekOfHost(nowMs());
  const choice = decideAnnouncement(summary, { held, week });
  if (choice.status === "none") return write("none", held);
  const at = summary.finishedAt ?? new Date(nowMs()).toISOString();
  const announcement = announcementOf(held, { week, at });
  write("failed", announcement);
  const alert = renderAlert(choice, { summary, week, host, startsAt: announcement.startsAt, at });
  const outcome = await announce(webhook, alert, dependencies);
  if (outcome.status === "accepted")
    return write(choice.status, choice.status === "firing" ? announcement : null);
  log.error("The alert webhook could not be told how the run ended", {
    code: "ANNOUNCE_FAILED",
    cause: outcome.cause,
    hint: "opsctl doctor weekly says what is wrong with the webhook, its address or WEBHOOK_SECRET",
  });
  return write("failed", outcome.status === "refused" ? held : announcement);
}

function renderAlert(
  choice: Exclude<AnnouncementChoice, { status: "none" }>,
  facts: Omit<Parameters<typeof renderFiring>[0], "severity">,
) {
  return choice.status === "firing"
    ? renderFiring({ ...facts, severity: choice.severity })
    : renderResolved({ ...facts, severity: "critical" });
}

/** The announcement that the file holds from now on; a later failure of the same week goes on from the first. */
function announcementOf(held: Announcement | null, { week, at }: { week: string; at: string }): Announcement {
  return held?.week === week ? held : { week, fingerprint: weekFingerprint(week), startsAt: at };
}

/**
 * How many messages of the week are known to be sent: to the ledger, to the run before, and to this run itself, whose
 * ledger may have lost rows meanwhile.
 */
function sentIn(
  { window, week, whatsapp, failures }: WeeklySummary,
  before: LastRun["sent"],
): LastRun["sent"] {
  if (window === null) return before;
  const lost = failures.filter((failure) => failure.step === "whatsapp" && isLostSend(failure)).length;
  const known = sentOf(before, window.week);
  const inLedger = week === null ? 0 : week.whatsapp.sent + week.whatsapp.partial;
  const kept = Math.max(inLedger, known.whatsapp, whatsapp.sent + whatsapp.reused);
  return { week: window.week, whatsapp: kept + lost, lost: known.lost + lost };
}

function sentOf(sent: LastRun["sent"], week: string): SentBefore {
  if (sent?.week !== week) return { whatsapp: 0, lost: 0 };
  const { whatsapp, lost } = sent;
  return { whatsapp, lost };
}

function heldIn(run: LastRun | null): Announcement | null {
  return run?.announcement ?? null;
}

/** A run that broke down after its beginning has a summary that does not know of it. */
function withStart(summary: WeeklySummary, begun: RunStart | null): WeeklySummary {
  if (begun === null || summary.window !== null) return summary;
  const { startedAt, window, retryableUntil } = begun;
  return { ...summary, startedAt, window, retryableUntil };
}

/** The week for the alert alone, when the database could not say which it is. */
function weekOfHost(nowMs: number): string {
  return weekWindow(Temporal.Instant.fromEpochMilliseconds(nowMs)).week;
}

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../../dedup/sqlite.ts";
import type { Alert } from "../../../../alert/alert.ts";
import { type AcceptedAlert, type AcceptOutcome, ISSUE_TTL_MS, type Tries } from "../../../contract.ts";
import { issueKey, priorityOf } from "../../../stored.ts";
import { type TakeUp, uptaker } from "../deliver/take-up.ts";
import type { Load } from "../load.ts";
import { type Episodes, episodesOn, type NewestIssue } from "./episodes.ts";
import { hourlyCount } from "./hours.ts";
import { type Insert, inserter } from "./insert.ts";

/** What accepting works with; `comments`: whether the end of an alert is told on its issue. */
export type AcceptDependencies = {
  db: DatabaseSync;
  dedup: SqliteDedup;
  load: Load;
  nowMs: () => number;
  comments: boolean;
};

/**
 * Accepts one request in the caller's transaction.
 *
 * Errors: those of SQLite; then the caller's transaction must not be committed.
 */
export function acceptor(
  dependencies: AcceptDependencies,
): (alerts: readonly Alert[], now: number, tries?: Tries) => AcceptOutcome {
  const { db, load } = dependencies;
  const tools = {
    ...dependencies,
    insert: inserter(db, load),
    episodes: episodesOn(db),
    isOpen: openIssues(db),
    takeUp: uptaker(dependencies),
    backdate: db.prepare("update dedup set claimed_at_ms = ? where key = ? and token = ?"),
  };
  const count = hourlyCount(db);
  return (alerts, now, tries) => {
    const texts = alerts.map((alert) => JSON.stringify(alert));
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const isCritical = alerts.some((alert) => priorityOf(alert) === 0);
    if (!load.takes(alerts.length, bytes, { isCritical })) return { refused: "outbox_full" };
    const accepted = alerts.map((alert, at) => {
      const one = acceptAlert(tools, alert, {
        text: texts[at]!,
        now,
        triedAtMs: tries?.issue(alert.fingerprint),
      });
      const tried = tries?.message(alert);
      if (tried !== undefined) tools.takeUp(one.messageRow, tried);
      return one;
    });
    count.add(alerts.length, now);
    return { accepted };
  };
}

type Tools = AcceptDependencies & {
  insert: Insert;
  episodes: Episodes;
  isOpen: (issue: NewestIssue) => boolean;
  backdate: StatementSync;
  takeUp: TakeUp;
};

function acceptAlert(
  tools: Tools,
  alert: Alert,
  { text, now, triedAtMs }: { text: string; now: number; triedAtMs: number | undefined },
): AcceptedAlert {
  const { insert, episodes } = tools;
  const { isRepeat, ended } = episodes.observe(alert, now);
  const row = { alert, text, now, isRepeat };
  const messageRow = insert({ ...row, kind: "message" });
  if (!alert.firing) {
    if (ended !== null && mayComment(tools, alert, ended)) insert({ ...row, kind: "comment", issue: ended });
    return { alert, messageRow, isRepeat, issue: { status: "not_firing" } };
  }
  const key = issueKey(alert.fingerprint);
  const claim = tools.dedup.claim(key, ISSUE_TTL_MS);
  if (claim.status === "duplicate") {
    const { claimedAtMs, value: url } = claim;
    return { alert, messageRow, isRepeat, issue: { status: "duplicate", claimedAtMs, url } };
  }
  const { token } = claim;
  const claimedAtMs = triedAtMs ?? claim.claimedAtMs;
  if (triedAtMs !== undefined) tools.backdate.run(triedAtMs, key, token);
  const issueRow = insert({ ...row, kind: "issue", messageRow, claim: { token, claimedAtMs } });
  episodes.setIssue(alert.fingerprint, { row: issueRow, claimedAtMs });
  return { alert, messageRow, isRepeat, issue: { status: "first", row: issueRow, claimedAtMs } };
}

function mayComment({ comments, isOpen }: Tools, { status }: Alert, issue: NewestIssue): boolean {
  return comments && status === "resolved" && isOpen(issue);
}

/** Whether an issue waits, was delivered, or was delivered so long ago that its row is gone. */
function openIssues(db: DatabaseSync): Tools["isOpen"] {
  const ended = db.prepare("select 1 from outbox where id = ? and state in ('dead', 'in_doubt')");
  return ({ row }) => ended.get(row) === undefined;
}

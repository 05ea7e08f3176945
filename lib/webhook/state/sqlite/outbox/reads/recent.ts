import type { DatabaseSync } from "node:sqlite";
import type { LatestRow, RecentAlert, ShownAlert } from "../../../contract.ts";
import { shownAlert, storedAlert } from "../../../stored.ts";

/** Reads the latest alerts; see `State.recent`. */
export function recentAlerts(db: DatabaseSync): (limit: number) => RecentAlert[] {
  // An issue was added right after its message.
  const recent = db.prepare(`
    select row.id, row.accepted_at_ms, row.alert, row.shown, row.state, row.code, row.ended_at_ms, row.emailed_at_ms,
      issue.state as issue_state, issue.code as issue_code, issue.url as issue_url
    from outbox as row
    left join outbox as issue on issue.id = row.id + 1 and issue.kind = 'issue' and issue.message_row = row.id
    where row.kind = 'message' order by row.id desc limit ?`);
  return (limit) => (recent.all(limit) as Row[]).map(parseRecent);
}

type Row = {
  id: number;
  accepted_at_ms: number;
  alert: string | null;
  shown: string | null;
  state: LatestRow["status"];
  code: string | null;
  ended_at_ms: number | null;
  emailed_at_ms: number | null;
  issue_state: LatestRow["status"] | null;
  issue_code: string | null;
  issue_url: string | null;
};

function parseRecent(row: Row): RecentAlert {
  const { state: status, code, ended_at_ms, emailed_at_ms, issue_state } = row;
  return {
    row: row.id,
    acceptedAtMs: row.accepted_at_ms,
    shown: shownOf(row),
    message: { status, code, endedAtMs: ended_at_ms, isEmailed: emailed_at_ms !== null },
    issue: issue_state && { status: issue_state, code: row.issue_code, url: row.issue_url },
  };
}

const UNKNOWN: ShownAlert = {
  name: null,
  status: null,
  firing: false,
  severity: null,
  squad: "geral",
  about: "",
};

/** What is shown of a row; an unreadable alert, and one that an older version delivered, shows nothing. */
export function shownOf({ shown, alert: text }: { shown: string | null; alert: string | null }): ShownAlert {
  const alert = storedAlert(text);
  if (alert !== null) return shownAlert(alert);
  try {
    return { ...UNKNOWN, ...(JSON.parse(shown ?? "{}") as ShownAlert) };
  } catch {
    return UNKNOWN;
  }
}

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Detour, UnheardAlert } from "../../../contract.ts";
import { alertAsShown, storedAlert } from "../../../stored.ts";
import { shownOf } from "../reads/recent.ts";
import type { Transaction } from "../transaction.ts";

/** How many alerts the second channel is given at once. */
const MOST_UNHEARD = 1_000;

/** What the second channel asks and records. */
export type SecondChannel = {
  unheard(waitedMs: number): UnheardAlert[];
  unacknowledged(references: readonly string[]): UnheardAlert[];
  recordEmailed(rows: readonly number[]): void;
  keptEmail(): string | null;
  keepEmail(email: string | null): void;
  detour(): Detour;
  recordTold(told: Detour): void;
};

/** Errors: those of SQLite. */
export function secondChannel({
  db,
  transaction,
  nowMs,
}: {
  db: DatabaseSync;
  transaction: Transaction;
  nowMs: () => number;
}): SecondChannel {
  const statements = prepare(db);
  return {
    unheard(waitedMs) {
      const now = nowMs();
      // Of an alert from before a clock was set back it is not known how long it has waited: it has waited long enough.
      const rows = statements.unheard.all(now, now - waitedMs, now, now, MOST_UNHEARD) as UnheardRow[];
      return rows.flatMap((row) => parseUnheard(row) ?? []);
    },
    unacknowledged(references) {
      const now = nowMs();
      const rows = references.flatMap((reference) => statements.unacknowledged.all(now, reference));
      return (rows as DeliveredRow[]).map(parseDelivered);
    },
    recordEmailed: (rows) =>
      transaction(() => {
        const now = nowMs();
        const emailed = rows.filter((row) => statements.emailed.run(now, row).changes > 0).length;
        statements.count.run(emailed, 0);
      }),
    keptEmail: () => (statements.kept.get() as { content: string } | undefined)?.content ?? null,
    keepEmail: (email) =>
      void transaction(() => (email === null ? statements.forget.run() : statements.keep.run(email))),
    detour() {
      const { emailed, given_up } = statements.detour.get() as { emailed: number; given_up: number };
      return { emailed, givenUp: given_up };
    },
    recordTold: ({ emailed, givenUp }) => void transaction(() => statements.count.run(-emailed, -givenUp)),
  };
}

type Statements = Record<
  "unheard" | "unacknowledged" | "emailed" | "kept" | "keep" | "forget" | "detour" | "count",
  StatementSync
>;

function prepare(db: DatabaseSync): Statements {
  const columns = `
    id, state as status, accepted_at_ms, alert,
    (select value from dedup where key = 'issue:' || fingerprint and expires_at_ms > ?) as issue_url`;
  return {
    unheard: db.prepare(`
      select ${columns} from outbox
      where state in ('queued', 'in_doubt') and is_urgent = 1 and emailed_at_ms is null
        and state = 'queued' and (accepted_at_ms <= ? or accepted_at_ms > ?)
      union all
      select ${columns} from outbox
      where state in ('dead', 'in_doubt') and kind = 'message' and state = 'in_doubt' and emailed_at_ms is null
      order by id limit ?`),
    unacknowledged: db.prepare(`
      select id, fingerprint, accepted_at_ms, alert, shown,
        (select value from dedup where key = 'issue:' || fingerprint and expires_at_ms > ?) as issue_url
      from outbox
      where reference = ? and kind = 'message' and state = 'delivered' and is_urgent = 1 and emailed_at_ms is null
      order by id`),
    emailed: db.prepare(
      "update outbox set emailed_at_ms = ? where id = ? and kind = 'message' and emailed_at_ms is null",
    ),
    kept: db.prepare("select content from email where id = 1"),
    keep: db.prepare("insert or replace into email (id, content) values (1, ?)"),
    forget: db.prepare("delete from email where id = 1"),
    detour: db.prepare("select emailed, given_up from detour"),
    count: db.prepare("update detour set emailed = max(0, emailed + ?), given_up = max(0, given_up + ?)"),
  };
}

type UnheardRow = {
  id: number;
  status: UnheardAlert["status"];
  accepted_at_ms: number;
  alert: string | null;
  issue_url: string | null;
};

function parseUnheard({
  id,
  status,
  accepted_at_ms,
  alert: text,
  issue_url,
}: UnheardRow): UnheardAlert | null {
  const alert = storedAlert(text);
  return alert && { row: id, alert, status, acceptedAtMs: accepted_at_ms, issueUrl: issue_url };
}

type DeliveredRow = Omit<UnheardRow, "status"> & { fingerprint: string; shown: string | null };

function parseDelivered(row: DeliveredRow): UnheardAlert {
  const { id, fingerprint, accepted_at_ms, issue_url } = row;
  const alert = alertAsShown(shownOf(row), fingerprint);
  return { row: id, alert, status: "unacknowledged", acceptedAtMs: accepted_at_ms, issueUrl: issue_url };
}

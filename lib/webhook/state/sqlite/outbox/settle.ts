import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../dedup/sqlite.ts";
import type { OutboxKind, Settlement } from "../../contract.ts";
import { issueKey } from "../../stored.ts";
import { LONGEST_DELAY_MS } from "./due.ts";
import type { Load } from "./load.ts";

/** What settling works with. */
export type SettleDependencies = { db: DatabaseSync; dedup: SqliteDedup; load: Load; nowMs: () => number };

/** A row and what is recorded of it. */
export type Settled = { row: number; settlement: Settlement };

/** Settles a row in the caller's transaction; a row that is not queued is left as it is. */
export function settler(dependencies: SettleDependencies): (settled: Settled) => void {
  const { db, nowMs } = dependencies;
  const statements = prepare(db);
  return ({ row: id, settlement }) => {
    const row = statements.queued.get(id) as Row | undefined;
    if (row === undefined) return;
    const now = nowMs();
    if (settlement.status === "retry") {
      const delayMs = Math.min(settlement.delayMs, LONGEST_DELAY_MS);
      statements.retry.run(Math.max(1, now + delayMs), settlement.code, id);
    } else end({ ...dependencies, statements, now }, { ...row, id }, settlement);
  };
}

type Statements = Record<"queued" | "retry" | "delivered" | "dead" | "promote", StatementSync>;

type Row = {
  kind: OutboxKind;
  fingerprint: string;
  is_head: number;
  claim_token: string | null;
  bytes: number;
};

function prepare(db: DatabaseSync): Statements {
  return {
    queued: db.prepare(
      "select kind, fingerprint, is_head, claim_token, bytes from outbox where id = ? and state = 'queued'",
    ),
    retry: db.prepare(
      "update outbox set attempts = attempts + 1, next_attempt_at_ms = ?, code = ? where id = ?",
    ),
    delivered: db.prepare(`
      update outbox set state = 'delivered', is_head = 0, attempts = attempts + 1, code = null, reference = ?,
        url = ?, ended_at_ms = ?, alert = null
      where id = ?`),
    dead: db.prepare(`
      update outbox set state = 'dead', is_head = 0, attempts = attempts + 1, code = ?, ended_at_ms = ?
      where id = ?`),
    promote: db.prepare(`
      update outbox set is_head = 1 where id = (
        select id from outbox where state = 'queued' and kind = ? and fingerprint = ? and id > ?
        order by id limit 1)`),
  };
}

function end(
  { dedup, load, statements, now }: SettleDependencies & { statements: Statements; now: number },
  row: Row & { id: number },
  settlement: Exclude<Settlement, { status: "retry" }>,
): void {
  const key = issueKey(row.fingerprint);
  if (settlement.status === "delivered") {
    const { reference, url } = settlement;
    statements.delivered.run(reference, url, now, row.id);
    if (row.claim_token !== null && url !== null) dedup.confirm(key, row.claim_token, { value: url });
  } else {
    statements.dead.run(settlement.code, now, row.id);
    if (row.claim_token !== null) dedup.release(key, row.claim_token);
  }
  if (row.is_head === 1) statements.promote.run(row.kind, row.fingerprint, row.id);
  load.add(-1, -row.bytes);
}

import type { DatabaseSync } from "node:sqlite";
import type { TriedBefore } from "../../../contract.ts";

/** Records what was tried for a row before it was kept. */
export type TakeUp = (row: number, tried: TriedBefore) => void;

/** Writes in the caller's transaction; a row that was begun, or does not wait, is left as it is. */
export function uptaker({ db, nowMs }: { db: DatabaseSync; nowMs: () => number }): TakeUp {
  const update = db.prepare(`
    update outbox set text = ?, attempts = ?, unclear = ?, first_begun_at_ms = ?, unanswered_at_ms = ?, next_attempt_at_ms = ?
    where id = ? and state = 'queued' and text is null and digest is null`);
  return (row, { text, attempts, unclear, begunForMs, unansweredForMs, delayMs }) => {
    const now = nowMs();
    const unansweredAtMs = unansweredForMs === null ? null : Math.ceil(now - unansweredForMs);
    const times = [now - begunForMs, unansweredAtMs, Math.ceil(now + delayMs)] as const;
    update.run(JSON.stringify(text), attempts, unclear, ...times, row);
  };
}

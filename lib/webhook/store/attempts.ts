import { takeIds } from "./ids.ts";
import { type AttemptEnd, type AttemptStart, type DueRow, type RecoveryNote, SEND_OVER_MS } from "./model.ts";
import { contentOf } from "./read-row.ts";
import { inList, type Sql, type SqlRow } from "./sql.ts";
import { shownOf, storableReference, storableText } from "./stored.ts";

/** The code of a comment whose issue was given up. */
const ISSUE_DEAD = "issue_dead";

/** Thrown inside a transaction, so that nothing of it is kept: the attempt must not begin. */
export class NotBegun extends Error {
  override readonly name = "NotBegun";
}

/**
 * Begins an attempt in the caller's transaction, before the external service is called.
 *
 * Shape:     `leads` as in `Store`.
 * Behaviour: a message whose process ends before its attempt does is due again when no send of it can be in flight; an
 *            issue or comment, which the tracker knows by its id, at once. An attempt whose end was never recorded is
 *            counted with the next one.
 * Errors:    `NotBegun` when the row or a member waits no more, or was begun by another process since it was read.
 */
export async function beginAttempt(
  sql: Sql,
  { id, attempts }: Pick<DueRow, "id" | "attempts">,
  { content, members, paceAheadMs }: AttemptStart,
  leads: string,
): Promise<void> {
  const overAfterMs = content === null ? 0 : SEND_OVER_MS;
  const [begun] = await sql.all(
    `update {outbox} set content = $3, attempts = attempts + 1, ambiguous = ambiguous + sending, sending = 1,
      begun_at = {now}, due_at = {now} + $4,
      first_begun_at = case when content is null then {now} else first_begun_at end
    where id = $1 and attempts = $2 and state = 'queued' and digest is null and ${leads}
    returning kind`,
    [id, attempts, content && JSON.stringify(content), overAfterMs],
  );
  if (begun === undefined) throw new NotBegun();
  if (members.length > 0) await join(sql, id, [...new Set(members)]);
  if (paceAheadMs === null) return;
  await sql.run(
    `insert into {meta} as old (key, value) values ($1, cast({now} as text) || ' ' || cast($2 as text))
    on conflict (key) do update set value = excluded.value`,
    [`pace:${String(begun.kind)}`, String(Math.ceil(paceAheadMs))],
  );
}

/** Makes queued rows that are in no other text members of a row's text. */
async function join(sql: Sql, id: number, members: readonly number[]): Promise<void> {
  const { marks, values } = inList(members, 2);
  const joined = await sql.run(
    `update {outbox} set digest = $1, attempts = attempts + 1
    where id in (${marks}) and id <> $1 and state = 'queued' and content is null
      and (digest is null or digest = $1)`,
    [id, ...values],
  );
  if (joined !== members.length) throw new NotBegun();
}

/** Records in the caller's transaction how an attempt, or a look-up instead of one, ended; nothing for a row that waits no more. */
export async function finishAttempt(sql: Sql, id: number, end: AttemptEnd): Promise<void> {
  if (end.status === "retry") return await retryLater(sql, id, end);
  // By their numbers alone: with the state, PostgreSQL may go along all that wait.
  const text = await sql.all("select id from {outbox} where id = $1 or digest = $1", [id]);
  const { marks, values } = inList(text.map((row) => Number(row.id)));
  // Changed before they are read, rows are locked: of two hosts one ends them.
  const rows = await sql.all(
    `update {outbox} set sending = 0 where id in (${marks}) and state = 'queued'
    returning id, kind, fingerprint, issue_id, alert, content`,
    values,
  );
  const row = rows.find((one) => one.id === id);
  if (row === undefined) return;
  if (end.status === "delivered") await deliver(sql, rows, row, end);
  else await endRows(sql, rows, row, end);
}

async function retryLater(
  sql: Sql,
  id: number,
  { delayMs, code, triedMs, ambiguous, mayHaveArrived }: AttemptEnd & { status: "retry" },
): Promise<void> {
  const keeps = Number(mayHaveArrived);
  const values = [id, Math.ceil(delayMs), storableText(code), Math.round(triedMs), keeps];
  const changed = await sql.run(
    `update {outbox} set due_at = {now} + $2, code = $3, tried_ms = $4, sending = 0, ambiguous = $6,
      content = case when $5 = 1 then content else null end,
      first_begun_at = case when $5 = 1 then first_begun_at else null end
    where id = $1 and state = 'queued' and digest is null`,
    [...values, ambiguous],
  );
  if (changed === 0) return;
  await sql.run(
    `update {outbox} set due_at = {now} + $2, code = $3, tried_ms = $4,
      digest = case when $5 = 1 then digest else null end
    where digest = $1 and state = 'queued'`,
    values,
  );
}

async function deliver(
  sql: Sql,
  rows: readonly SqlRow[],
  row: SqlRow,
  { reference, url }: AttemptEnd & { status: "delivered" },
): Promise<void> {
  const storedUrl = url && storableText(url);
  const ends = [reference && storableReference(reference), storedUrl];
  await Promise.all(
    rows.map(({ id, alert }) => {
      return sql.run(
        `update {outbox} set state = 'delivered', code = null, ended_at = {now}, reference = $2, url = $3,
          alert = $4, content = null
        where id = $1`,
        [Number(id), ...ends, JSON.stringify(shownOf(String(alert)))],
      );
    }),
  );
  const note = row.content === null ? null : (contentOf(String(row.content))?.note ?? null);
  if (note !== null) await addToNote(sql, { emailed: -note.emailed, undelivered: -note.undelivered });
  if (row.kind === "issue" && storedUrl !== null)
    await sql.run("update {alert} set issue_url = $1 where fingerprint = $2 and issue_id = $3", [
      storedUrl,
      ...[row.fingerprint!, row.issue_id!],
    ]);
}

async function endRows(
  sql: Sql,
  rows: readonly SqlRow[],
  row: SqlRow,
  { status, code }: AttemptEnd & { status: "dead" | "unknown" },
): Promise<void> {
  const set = "update {outbox} set state = $2, code = $3, ended_at = {now} where id = $1";
  await Promise.all(rows.map(({ id }) => sql.run(set, [Number(id), status, storableText(code)])));
  if (row.kind === "message" && status === "dead")
    await addToNote(sql, { emailed: 0, undelivered: rows.length });
  const comments = `update {outbox} set state = 'dead', code = '${ISSUE_DEAD}', ended_at = {now}`;
  if (row.kind === "issue") await giveUpIssue(sql, row, comments);
}

/** Releases the claim of an issue that is not made, and changes its comments that wait by `change`. */
export async function giveUpIssue(
  sql: Sql,
  { fingerprint = null, issue_id = null }: SqlRow,
  change: string,
): Promise<void> {
  const issue = [fingerprint, issue_id];
  // Not while requests are accepted that have seen the claim.
  await takeIds(sql, 0);
  await sql.run(
    `update {alert} set issue_id = null, issue_url = null, claim_until = 0
    where fingerprint = $1 and issue_id = $2`,
    issue,
  );
  await sql.run(
    `${change} where kind = 'comment' and fingerprint = $1 and state = 'queued' and issue_id = $2`,
    issue,
  );
}

/** Adds to what the next message has to say; what is taken away twice leaves nothing. */
export async function addToNote(sql: Sql, { emailed, undelivered }: RecoveryNote): Promise<void> {
  for (const [key, count] of Object.entries({ emailed, undelivered })) {
    if (count === 0) continue;
    await sql.run(
      `insert into {meta} as old (key, value) values ($1, $2)
      on conflict (key) do update set value = case when cast(old.value as bigint) + cast($3 as bigint) > 0
        then cast(cast(old.value as bigint) + cast($3 as bigint) as text) else '0' end`,
      [key, String(Math.max(0, count)), count],
    );
  }
}

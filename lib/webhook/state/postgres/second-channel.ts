import type postgres from "postgres";
import type { Detour, ShownAlert, State, UnheardAlert } from "../contract.ts";
import { alertAsShown, storedAlert } from "../stored.ts";
import type { StateLink } from "./connection.ts";
import { restoredOrNull, restoredText, storedText } from "./stored-text.ts";

/** How many alerts the second channel is given at once. */
const MOST_UNHEARD = 1_000;

/** What the second channel asks and records. */
export function secondChannel(
  link: StateLink,
): Pick<
  State,
  "unheard" | "unacknowledged" | "recordEmailed" | "keptEmail" | "keepEmail" | "detour" | "recordDetourTold"
> {
  return {
    unheard: (waitedMs) => link.ask("read the outbox", (sql) => unheard(sql, waitedMs)),
    unacknowledged: (references) => link.ask("read the outbox", (sql) => unacknowledged(sql, references)),
    recordEmailed: (rows) =>
      link.ask("record an e-mail", (sql) => recordEmailed(sql, rows), { repeats: true }),
    keptEmail: () => link.ask("read an e-mail", keptEmail),
    keepEmail: (email) => link.ask("keep an e-mail", (sql) => keepEmail(sql, email), { repeats: true }),
    detour: () => link.ask("count e-mails", detour),
    recordDetourTold: (told) => link.ask("record what was told", (sql) => recordDetourTold(sql, told)),
  };
}

async function unheard(sql: postgres.Sql, waitedMs: number): Promise<UnheardAlert[]> {
  const rows = await sql`
    select * from opsctl_state.unheard(${Math.ceil(waitedMs)}::bigint, ${MOST_UNHEARD}::bigint)`;
  return rows.flatMap((row) => {
    const alert = storedAlert(row.alert);
    if (alert === null) return [];
    const issueUrl = restoredOrNull(row.issue_url);
    return {
      row: Number(row.id),
      alert,
      status: row.state,
      acceptedAtMs: Number(row.accepted_at),
      issueUrl,
    };
  });
}

async function unacknowledged(sql: postgres.Sql, references: readonly string[]): Promise<UnheardAlert[]> {
  // Escaped twice, as in `heldReferences`.
  const stored = JSON.stringify(references.map(storedText));
  const rows = await sql`select * from opsctl_state.unacknowledged(${stored}::text::json)`;
  return rows.flatMap((row) => {
    if (row.shown === null) return [];
    const alert = alertAsShown(JSON.parse(row.shown) as ShownAlert, restoredText(row.fingerprint));
    const issueUrl = restoredOrNull(row.issue_url);
    const acceptedAtMs = Number(row.accepted_at);
    return { row: Number(row.id), alert, status: "unacknowledged" as const, acceptedAtMs, issueUrl };
  });
}

async function recordEmailed(sql: postgres.Sql, rows: readonly number[]): Promise<void> {
  await sql`select opsctl_state.record_emailed(${JSON.stringify(rows)}::text::json)`;
}

async function keptEmail(sql: postgres.Sql): Promise<string | null> {
  const [row] = await sql`select content from opsctl_state.email where id = 1`;
  return restoredOrNull(row?.content ?? null);
}

async function keepEmail(sql: postgres.Sql, email: string | null): Promise<void> {
  if (email === null) await sql`delete from opsctl_state.email where id = 1`;
  else
    await sql`
      insert into opsctl_state.email (id, content) values (1, ${storedText(email)}::text)
      on conflict (id) do update set content = excluded.content`;
}

async function detour(sql: postgres.Sql): Promise<Detour> {
  const [row] = await sql`
    select detour_emailed::int as emailed, detour_given_up::int as given_up from opsctl_state.totals`;
  return { emailed: row!.emailed, givenUp: row!.given_up };
}

async function recordDetourTold(sql: postgres.Sql, { emailed, givenUp }: Detour): Promise<void> {
  await sql`select opsctl_state.record_detour_told(${emailed}::bigint, ${givenUp}::bigint)`;
}

import { randomUUID } from "node:crypto";
import type { Begun, OutboxKind, Settlement, State, TriedBefore } from "../contract.ts";
import { isUnanswered } from "../stored.ts";
import type { StateLink } from "./connection.ts";
import { storedOrNull, storedText } from "./stored-text.ts";

/**
 * Records how attempts begin and end.
 *
 * Behaviour: each call carries a token of its own by which the database recognises it: asked again after a lost answer,
 *            it is done once. `begin` returns false while another process than `holder` delivers.
 */
export function attempts(
  link: StateLink,
  holder: string,
): Pick<State, "begin" | "takeUp" | "settle" | "begunWithin"> {
  return {
    begin: (row, begun) => begin(link, { row, begun, holder }),
    takeUp: (row, tried) => takeUp(link, row, tried),
    settle: (row, settlement) => settle(link, row, settlement),
    begunWithin: (kind, ms) => begunWithin(link, kind, ms),
  };
}

type Beginning = { row: number; begun: Begun | null; holder: string };

function begin(link: StateLink, { row, begun, holder }: Beginning): Promise<boolean> {
  const token = randomUUID();
  const text = begun && storedText(begun.text);
  const members = JSON.stringify(begun?.members ?? []);
  const work: Parameters<StateLink["ask"]>[1] = async (sql) => {
    const [answer] = await sql`
      select opsctl_state.begin_attempt(
        ${row}::bigint, ${token}::uuid, ${holder}::uuid, ${text}::text, ${members}::text::json) as begins`;
    return answer!.begins;
  };
  return link.ask("record that a delivery begins", work, { repeats: true }) as Promise<boolean>;
}

/** As the database is told what was tried. */
export function takenUp({ text, unansweredForMs, begunForMs, delayMs, ...counts }: TriedBefore) {
  return {
    ...counts,
    text: storedText(text),
    begun_for_ms: Math.ceil(begunForMs),
    unanswered_for_ms: unansweredForMs && Math.ceil(unansweredForMs),
    delay_ms: Math.ceil(delayMs),
  };
}

async function takeUp(link: StateLink, row: number, tried: TriedBefore): Promise<void> {
  const work: Parameters<StateLink["ask"]>[1] = (sql) => sql`
    select opsctl_state.take_up(${row}::bigint, ${JSON.stringify(takenUp(tried))}::text::json)`;
  await link.ask("record what was tried before", work, { repeats: true });
}

function settle(link: StateLink, row: number, settlement: Settlement): Promise<void> {
  const token = randomUUID();
  const { status } = settlement;
  const isRetry = status === "retry";
  const delayMs = isRetry ? Math.ceil(settlement.delayMs) : null;
  const triedMs = isRetry ? Math.ceil(settlement.triedMs) : null;
  const code = status === "delivered" ? null : storedText(settlement.code);
  const { reference, url } = status === "delivered" ? settlement : { reference: null, url: null };
  const work: Parameters<StateLink["ask"]>[1] = (sql) => sql`
    select opsctl_state.settle(
      ${row}::bigint, ${token}::uuid, ${status}::text, ${delayMs}::bigint, ${code}::text, ${triedMs}::bigint,
      ${isRetry && settlement.isUnclear}::boolean, ${isUnanswered(settlement)}::boolean,
      ${storedOrNull(reference)}::text, ${storedOrNull(url)}::text)`;
  return link.ask("record a delivery", work, { repeats: true }).then(() => {});
}

async function begunWithin(link: StateLink, kind: OutboxKind, ms: number): Promise<number> {
  return await link.ask("count attempts", async (sql) => {
    const [row] = await sql`
      select opsctl_state.begun_within(${kind}::text, ${Math.ceil(ms)}::bigint)::int as count`;
    return row!.count as number;
  });
}

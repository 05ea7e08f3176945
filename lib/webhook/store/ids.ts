import { hash } from "node:crypto";
import type { Alert } from "../alert/alert.ts";
import { alertInstant } from "../alert/time.ts";
import type { Sql } from "./sql.ts";

/**
 * The id of the issue that a claim on a fingerprint creates: the same on every attempt, another one for every claim.
 *
 * Shape:  a UUID with the bits of version 4, the only one that the tracker is known to take.
 * Units:  `claimedAtMs` is epoch milliseconds.
 * Source: issue tracker contract, The same id twice.
 */
export function issueIdOf(fingerprint: string, claimedAtMs: number): string {
  return uuidOf([fingerprint, claimedAtMs]);
}

/**
 * The id of the comment on an alert's issue: the same on every attempt, another one for another end of the alert.
 *
 * Behaviour: made of the instant of the end; where the sender names none, of the number of its row.
 */
export function commentIdOf(issueId: string, { endsAt }: Pick<Alert, "endsAt">, row: number): string {
  const end = alertInstant(endsAt);
  return uuidOf(["comment", issueId, end === null ? `row ${row}` : String(end.epochNanoseconds)]);
}

/** A UUID made of the SHA-256 of its parts. */
function uuidOf(parts: readonly (string | number)[]): string {
  const hex = hash("sha256", JSON.stringify(parts), "hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const [third, fourth] = [`4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [hex.slice(0, 8), hex.slice(8, 12), third, fourth, hex.slice(20, 32)].join("-");
}

/** Takes numbers for rows, which no one else gets, and reads the clock. */
export async function takeIds(sql: Sql, count: number): Promise<{ firstId: number; nowMs: number }> {
  const [taken] = await sql.all(
    `insert into {meta} as old (key, value) values ('next_id', cast(1 + cast($1 as bigint) as text))
    on conflict (key) do update set value = cast(cast(old.value as bigint) + cast($1 as bigint) as text)
    returning value, {now} as now`,
    [count],
  );
  return { firstId: Number(taken!.value) - count, nowMs: Number(taken!.now) };
}

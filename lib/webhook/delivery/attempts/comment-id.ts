import type { Alert } from "../../alert/alert.ts";
import { alertInstant } from "../../alert/time.ts";
import { derivedUuid } from "./derived-uuid.ts";

/**
 * The id of the comment that tells the end of an alert on its issue: the same on every attempt, another one for another
 * end.
 *
 * Shape: as `derivedUuid` of the issue's id and the instant of the end; where the sender names no end, of the row,
 *        which is the end's own.
 */
export function commentIdOf(issueId: string, { endsAt }: Pick<Alert, "endsAt">, row: number): string {
  const end = alertInstant(endsAt);
  return derivedUuid(["comment", issueId, end === null ? `row ${row}` : String(end.epochNanoseconds)]);
}

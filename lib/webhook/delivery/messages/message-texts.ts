import type { Detour, DueRow } from "../../state/contract.ts";
import { renderDigest } from "../../texts/message/digest.ts";
import { renderMessage } from "../../texts/message/message-text.ts";

/** The rows that one send tells, the one that is sent first; never empty. */
export type ToldRows = readonly [DueRow, ...DueRow[]];

/** The message of an alert, or of several. */
export function messageText(rows: ToldRows, { nowMs, detour }: { nowMs: number; detour: Detour }): string {
  if (rows.length > 1) return renderDigest(rows, { nowMs, detour }).text;
  const [{ alert, issueUrl, isRepeat, waitedMs }] = rows;
  return renderMessage(alert, { issueUrl, isRepeat, waitedMs, nowMs, detour });
}

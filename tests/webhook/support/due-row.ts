import type { DueRow } from "../../../lib/webhook/state/contract.ts";
import { sampleAlert } from "./sample-alert.ts";

/** The row of a message that was not tried yet, with `changes`. */
export function dueRow(changes: Partial<DueRow> = {}): DueRow {
  return {
    id: 1,
    kind: "message",
    alert: sampleAlert(),
    attempts: 0,
    waitedMs: 0,
    triedMs: 0,
    isRepeat: false,
    claimedAtMs: null,
    issueUrl: null,
    text: null,
    isUnsettled: false,
    unclear: 0,
    firstBegunAtMs: null,
    unansweredForMs: null,
    members: [],
    ...changes,
  };
}

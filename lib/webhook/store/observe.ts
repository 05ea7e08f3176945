import type { Alert } from "../alert/alert.ts";
import { issueIdOf } from "./ids.ts";
import { type AlertRecord, ISSUE_TTL_MS } from "./model.ts";

/**
 * What an alert means for its fingerprint.
 *
 * Shape: `record` is what is known from now on, null when that is nothing new. `claims` when the alert's issue is to be
 *        created: it is that of the record. `commentOn` is the issue on which its end is commented.
 */
export type Observation = {
  record: AlertRecord | null;
  isRepeat: boolean;
  claims: boolean;
  commentOn: string | null;
};

const DAY_MS = 24 * 60 * 60_000;

/**
 * Decides what an alert means, by what is known of its fingerprint.
 *
 * Behaviour: a claim holds for 30 minutes from its making, that moment included and the end excluded; a duplicate does
 *            not extend it, and over a clock that was set back it holds for 30 minutes at most. When it was seen last is
 *            known by the day, so that a repetition writes nothing.
 */
export function observe(known: AlertRecord | undefined, alert: Alert, nowMs: number): Observation {
  if (!alert.firing) return observeEnd(known, alert);
  const { fingerprint, startsAt } = alert;
  const seenAtMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  const before = known ?? { issueId: null, issueUrl: null, claimUntilMs: 0, isFiring: false };
  const claimUntilMs = Math.min(before.claimUntilMs, nowMs + ISSUE_TTL_MS);
  const claims = before.issueId === null || claimUntilMs <= nowMs;
  const issue = claims
    ? { issueId: issueIdOf(fingerprint, nowMs), issueUrl: null, claimUntilMs: nowMs + ISSUE_TTL_MS }
    : { issueId: before.issueId, issueUrl: before.issueUrl, claimUntilMs };
  const isSame = known?.isFiring === true && known.startsAt === startsAt;
  const isNew = claims || !isSame || known.seenAtMs !== seenAtMs || claimUntilMs !== known.claimUntilMs;
  return {
    record: isNew ? { fingerprint, isFiring: true, startsAt, seenAtMs, ...issue } : null,
    isRepeat: isSame && startsAt !== null,
    claims,
    commentOn: null,
  };
}

function observeEnd(known: AlertRecord | undefined, { status }: Alert): Observation {
  const nothing = { record: null, isRepeat: false, claims: false, commentOn: null };
  if (known === undefined || !known.isFiring) return nothing;
  const commentOn = status === "resolved" ? known.issueId : null;
  return { ...nothing, record: { ...known, isFiring: false }, commentOn };
}

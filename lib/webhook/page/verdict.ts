import { UNACKNOWLEDGED_LIMIT } from "../../host/webhook-names.ts";
import { OUTBOX_KINDS, type OutboxKind } from "../store/types.ts";
import type { PageFacts, StateFacts } from "./facts.ts";
import { ADVICE, type Advice } from "./wording.ts";

const MINUTE_MS = 60_000;
/** The rate limit alone may delay a message for so long. */
const SLOW_MS = 2 * MINUTE_MS;
/** As the alert rule on queued messages. */
const STUCK_MS = 10 * MINUTE_MS;
/** As the fallback channel, which sends a critical alert by then. */
const CRITICAL_MS = 3 * MINUTE_MS;

/** How bad something is. */
export type Level = "ok" | "warn" | "bad";

/** The level of the alarm, that of its worst reason, and the reasons, the worst first. */
export type Verdict = { level: Level; reasons: Reason[] };

type Reason = Advice & { level: Level };

/** Judges what the page shows. */
export function pageVerdict(facts: PageFacts): Verdict {
  const { isStopping, secretRefusedAtMs, nowMs, state, watch } = facts;
  const reasons = [
    when(isStopping, "warn", ADVICE.stopping),
    when(state === null, "bad", ADVICE.stateUnavailable),
    ...OUTBOX_KINDS.map((kind) => {
      const code = pausedBy(facts, kind);
      return when(code !== null, levelOf(kind), ADVICE.paused(kind, code ?? ""));
    }),
    when(isUnacknowledged(facts), "bad", ADVICE.unacknowledged(watch.newestUnacknowledged ?? 0)),
    // A stranger's request looks the same as one of Grafana, so it is no more than a warning.
    when(secretRefusedAtMs !== null, "warn", ADVICE.secretRefused(secretRefusedAtMs ?? 0, nowMs)),
    ...(state === null ? [] : stateReasons(state)),
  ].flat();
  const worstFirst = reasons.toSorted((a, b) => Number(b.level === "bad") - Number(a.level === "bad"));
  return { level: worstFirst[0]?.level ?? "ok", reasons: worstFirst };
}

/** The code for which a kind is paused, on whichever host it is sent; null for one that is not. */
export function pausedBy({ state, pauses }: PageFacts, kind: OutboxKind): string | null {
  return state?.lanes[kind].pausedBy ?? pauses[kind];
}

/** Whether WhatsApp acknowledges none of the newest messages: none may arrive although all are accepted. */
export function isUnacknowledged({ watch }: PageFacts): boolean {
  return (watch.newestUnacknowledged ?? 0) >= UNACKNOWLEDGED_LIMIT;
}

function stateReasons({ stats, canAccept, isQuarantined }: StateFacts): Reason[] {
  const criticalMs = stats.oldestCriticalAgeMs ?? 0;
  const isCriticalLate = criticalMs > CRITICAL_MS;
  const sum = (of: "dead" | "unknown") => OUTBOX_KINDS.reduce((total, kind) => total + stats[kind][of], 0);
  const [dead, unknown] = [sum("dead"), sum("unknown")];
  const late = OUTBOX_KINDS.map((kind) => {
    const ageMs = stats[kind].oldestQueuedAgeMs ?? 0;
    // A critical message says more than a slow one.
    const isSlow = kind === "message" && ageMs > SLOW_MS && !isCriticalLate;
    const level = ageMs > STUCK_MS ? levelOf(kind) : "warn";
    return when(ageMs > STUCK_MS || isSlow, level, ADVICE.waits(kind, ageMs));
  });
  return [
    when(!canAccept, "bad", ADVICE.notAccepting),
    when(isCriticalLate, "bad", ADVICE.criticalWaits(criticalMs)),
    ...late,
    when(dead + unknown > 0, "warn", ADVICE.undelivered(dead, unknown)),
    when(isQuarantined, "warn", ADVICE.quarantined),
  ].flat();
}

function when(isSo: boolean, level: Level, advice: Advice): Reason[] {
  return isSo ? [{ level, ...advice }] : [];
}

function levelOf(kind: OutboxKind): Level {
  return kind === "message" ? "bad" : "warn";
}

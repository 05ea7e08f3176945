import { OUTBOX_KINDS, type OutboxKind } from "../../state/contract.ts";
import { UNACKNOWLEDGED_LIMIT } from "../../watch/pending-messages.ts";
import type { PageFacts, StateFacts } from "./read-page.ts";

const MINUTE_MS = 60_000;
/** The pace alone may hold a message this long. */
const SLOW_MS = 2 * MINUTE_MS;
/** As the alert rule on messages that wait. */
const STUCK_MS = 10 * MINUTE_MS;
/** As the second channel, which tells a critical alert by then. */
const CRITICAL_MS = 3 * MINUTE_MS;

/** How bad something is, from best to worst. */
const LEVELS = ["ok", "warn", "bad"] as const;
/** One of these levels. */
export type Level = (typeof LEVELS)[number];

/** One thing that is not as it should be; what belongs to it, and how bad it is. */
export type Reason = { level: Exclude<Level, "ok"> } & (
  | { status: "state_away" | "not_accepting" | "moved_aside" | "stopping" }
  | { status: "held"; kind: OutboxKind; hold: string; sinceMs: number | null }
  | { status: "secret_refused"; atMs: number }
  | { status: "critical_waits"; ageMs: number }
  | { status: "unacknowledged"; count: number }
  | { status: "waits"; kind: OutboxKind; ageMs: number }
  | { status: "lost"; dead: number; inDoubt: number }
);

/** The state of the alarm, and why; the worst reason decides. */
export type Verdict = { level: Level; reasons: Reason[] };

/** Judges what the page shows, the worst first. */
export function pageVerdict(facts: PageFacts): Verdict {
  const found = [
    ...(facts.isStopping ? [{ level: "warn" as const, status: "stopping" as const }] : []),
    ...(facts.state === null ? [{ level: "bad" as const, status: "state_away" as const }] : []),
    ...OUTBOX_KINDS.flatMap((kind) => heldReasons(facts, kind)),
    ...unacknowledgedReasons(facts),
    ...refusalReasons(facts),
    ...(facts.state === null ? [] : stateReasons(facts.state)),
  ];
  const reasons = found.toSorted((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
  return { level: reasons[0]?.level ?? "ok", reasons };
}

/** Why a channel holds and since when; null for one that does not. */
export function holdOf(
  { state, stops }: Pick<PageFacts, "state" | "stops">,
  kind: OutboxKind,
): { code: string; sinceMs: number | null } | null {
  const code = stops[kind];
  return state?.holds[kind] ?? (code === null ? null : { code, sinceMs: null });
}

/** Whether WhatsApp acknowledges none of the newest messages: perhaps nothing arrives although all seem to go out. */
export function isUnacknowledged({ watch }: Pick<PageFacts, "watch">): boolean {
  return (watch.newestUnacknowledged ?? 0) >= UNACKNOWLEDGED_LIMIT;
}

function unacknowledgedReasons(facts: PageFacts): Reason[] {
  if (!isUnacknowledged(facts)) return [];
  return [{ level: "bad", status: "unacknowledged", count: facts.watch.newestUnacknowledged ?? 0 }];
}

/** A stranger's post looks the same as one of the platform, so it is no more than a warning. */
function refusalReasons({ secretRefusedAtMs: atMs }: PageFacts): Reason[] {
  return atMs === null ? [] : [{ level: "warn", status: "secret_refused", atMs }];
}

function heldReasons(facts: PageFacts, kind: OutboxKind): Reason[] {
  const hold = holdOf(facts, kind);
  if (hold === null) return [];
  return [
    {
      level: kind === "message" ? "bad" : "warn",
      status: "held",
      kind,
      hold: hold.code,
      sinceMs: hold.sinceMs,
    },
  ];
}

function stateReasons({ stats, canAccept, movedAside }: StateFacts): Reason[] {
  const reasons: Reason[] = [];
  if (!canAccept) reasons.push({ level: "bad", status: "not_accepting" });
  const { oldestCriticalAgeMs } = stats;
  const isCriticalLate = oldestCriticalAgeMs !== null && oldestCriticalAgeMs > CRITICAL_MS;
  if (isCriticalLate) reasons.push({ level: "bad", status: "critical_waits", ageMs: oldestCriticalAgeMs });
  for (const kind of OUTBOX_KINDS)
    reasons.push(...waitReasons(kind, stats[kind].oldestQueuedAgeMs ?? 0, isCriticalLate));
  const count = (which: "dead" | "inDoubt") =>
    OUTBOX_KINDS.reduce((sum, kind) => sum + stats[kind][which], 0);
  const [dead, inDoubt] = [count("dead"), count("inDoubt")];
  if (dead + inDoubt > 0) reasons.push({ level: "warn", status: "lost", dead, inDoubt });
  if (movedAside !== null) reasons.push({ level: "warn", status: "moved_aside" });
  return reasons;
}

/** A slow message is not told beside a critical one, which says more. */
function waitReasons(kind: OutboxKind, ageMs: number, isCriticalLate: boolean): Reason[] {
  const isMessage = kind === "message";
  if (ageMs > STUCK_MS) return [{ level: isMessage ? "bad" : "warn", status: "waits", kind, ageMs }];
  return isMessage && ageMs > SLOW_MS && !isCriticalLate
    ? [{ level: "warn", status: "waits", kind, ageMs }]
    : [];
}

import type { PageFacts, StateFacts } from "../../../lib/webhook/http/page/read-page.ts";
import type { DeadRow, RecentAlert } from "../../../lib/webhook/state/contract.ts";
import type { WatchView } from "../../../lib/webhook/watch/watch.ts";

/** The moment at which the page is read: 03:12:05 in São Paulo. */
export const NOW_MS = Date.parse("2026-03-02T06:12:05Z");

const MINUTE_MS = 60_000;
const NO_ROWS = { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null };

/** What the state says on a quiet night, with `changes`. */
export function stateFacts(changes: Partial<StateFacts> = {}): StateFacts {
  return {
    stats: {
      message: NO_ROWS,
      issue: NO_ROWS,
      comment: NO_ROWS,
      queuedBytes: 0,
      oldestCriticalAgeMs: null,
      reserveBytes: 33_554_432,
    },
    canAccept: true,
    holds: { message: null, issue: null, comment: null },
    recent: [],
    hours: Array.from({ length: 192 }, () => 0),
    lost: [],
    movedAside: null,
    ...changes,
  };
}

/** What the watch knows on a quiet night, with `changes`. */
export function watchView(changes: Partial<WatchView> = {}): WatchView {
  const quiet = { pendingMessages: null, newestUnacknowledged: null };
  return { gatewayOpen: true, gatewayForMs: 3 * 60 * MINUTE_MS, ...quiet, ...changes };
}

/** What the page shows on a quiet night, with `changes`; `state` changes parts of it, null takes it away. */
export function pageFacts({
  state = {},
  ...changes
}: Partial<Omit<PageFacts, "state">> & { state?: Partial<StateFacts> | null } = {}): PageFacts {
  const nothing = { deliveredAtMs: null, failure: null };
  return {
    nowMs: NOW_MS,
    isStopping: false,
    isLeading: true,
    stops: { message: null, issue: null, comment: null },
    watch: watchView(),
    latest: { message: nothing, issue: nothing, comment: nothing },
    secretRefusedAtMs: null,
    state: state === null ? null : stateFacts(state),
    ...changes,
  };
}

/** An alert that was told at once and has an issue, with `changes`. */
export function recentAlert(
  changes: Partial<Omit<RecentAlert, "shown">> & { shown?: Partial<RecentAlert["shown"]> } = {},
): RecentAlert {
  const acceptedAtMs = changes.acceptedAtMs ?? NOW_MS - 5 * MINUTE_MS;
  return {
    row: 1,
    message: { status: "delivered", code: null, endedAtMs: acceptedAtMs + 1_400, isEmailed: false },
    issue: { status: "delivered", code: null, url: "https://linear.app/example/issue/OPS-7/raiz-cheia" },
    ...changes,
    acceptedAtMs,
    shown: {
      name: "Disco Raiz Baixo",
      status: "firing",
      firing: true,
      severity: "critical",
      squad: "infra",
      about: "main",
      ...changes.shown,
    },
  };
}

/** A message that was given up, with `changes`. */
export function lostRow(changes: Partial<DeadRow> = {}): DeadRow {
  return {
    id: 9,
    kind: "message",
    status: "dead",
    digest: null,
    alertname: "Traefik RAM Alta",
    fingerprint: "f9",
    squad: "infra",
    attempts: 41,
    code: "gateway_unreachable",
    acceptedAt: "2026-02-27T21:04:00Z",
    diedAt: "2026-02-28T21:09:00Z",
    ...changes,
  };
}

/** A night with something of everything. */
export function busyNight(): PageFacts {
  const rule = (name: string, severity: string, about = "main") => ({ name, severity, about });
  const ended = { status: "resolved", firing: false };
  const security = { squad: "security" as const };
  const minutesAgo = (minutes: number) => NOW_MS - minutes * MINUTE_MS;
  return pageFacts({
    latest: {
      message: {
        deliveredAtMs: minutesAgo(9),
        failure: { code: "gateway_unreachable", atMs: minutesAgo(0.6) },
      },
      issue: { deliveredAtMs: minutesAgo(0.3), failure: null },
      comment: { deliveredAtMs: minutesAgo(41), failure: null },
    },
    state: {
      stats: {
        ...stateFacts().stats,
        message: { queued: 3, dead: 1, inDoubt: 1, oldestQueuedAgeMs: 4.5 * MINUTE_MS },
        oldestCriticalAgeMs: 4.5 * MINUTE_MS,
      },
      lost: [
        lostRow({ status: "in_doubt", alertname: "SSH Brute Force", code: "gateway_timeout", attempts: 3 }),
        lostRow(),
      ],
      hours: Array.from({ length: 192 }, (_, at) => (at % 7 === 0 ? (at * 5) % 9 : at === 150 ? 42 : 0)),
      recent: [
        recentAlert({
          acceptedAtMs: minutesAgo(4.5),
          message: { status: "queued", code: "gateway_unreachable", endedAtMs: null, isEmailed: true },
        }),
        recentAlert({
          acceptedAtMs: minutesAgo(7),
          shown: rule("RAM Disponível Baixa", "high"),
          message: { status: "queued", code: null, endedAtMs: null, isEmailed: false },
          issue: { status: "queued", code: "tracker_rate_limited", url: null },
        }),
        recentAlert({
          acceptedAtMs: minutesAgo(12),
          shown: { ...rule("Vercel Deploy Falhado", "warning", "loja-virtual"), ...ended },
          issue: null,
        }),
        recentAlert({
          acceptedAtMs: minutesAgo(63),
          shown: rule("VPS Load Average Alto", "warning"),
          issue: { status: "delivered", code: null, url: "https://linear.app/example/issue/OPS-6/load" },
        }),
        recentAlert({
          acceptedAtMs: minutesAgo(9 * 60),
          shown: { ...rule("SSH Brute Force", "critical"), ...security },
          message: {
            status: "in_doubt",
            code: "gateway_timeout",
            endedAtMs: minutesAgo(530),
            isEmailed: true,
          },
        }),
        recentAlert({
          acceptedAtMs: minutesAgo(33 * 60),
          shown: rule("Traefik RAM Alta", "info", "traefik"),
          message: {
            status: "dead",
            code: "gateway_unreachable",
            endedAtMs: minutesAgo(500),
            isEmailed: false,
          },
          issue: { status: "dead", code: "tracker_input_refused", url: null },
        }),
      ],
    },
  });
}

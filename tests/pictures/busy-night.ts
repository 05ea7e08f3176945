import type { PageFacts } from "../../lib/webhook/page/facts.ts";
import type { DeadRow } from "../../lib/webhook/store/operator.ts";
import type { RecentAlert } from "../../lib/webhook/store/reads.ts";

/** The moment at which the page is read: 03:12:05 in São Paulo. */
const NOW_MS = Date.parse("2026-03-02T06:12:05Z");
const MINUTE_MS = 60_000;
const NO_ROWS = { queued: 0, dead: 0, unknown: 0, oldestQueuedAgeMs: null };
const minutesAgo = (minutes: number) => NOW_MS - minutes * MINUTE_MS;

/** What the status page shows after a night with something of everything. */
export function busyNight(): PageFacts {
  return {
    nowMs: NOW_MS,
    isLeader: true,
    pauses: { message: null, issue: null, comment: null },
    watch: {
      gatewayOpen: true,
      gatewayForMs: 180 * MINUTE_MS,
      pendingMessages: null,
      newestUnacknowledged: null,
    },
    latest: {
      message: {
        deliveredAtMs: minutesAgo(9),
        failure: { code: "gateway_unreachable", atMs: minutesAgo(0.6) },
      },
      issue: { deliveredAtMs: minutesAgo(0.3), failure: null },
      comment: { deliveredAtMs: minutesAgo(41), failure: null },
    },
    secretRefusedAtMs: null,
    state: {
      stats: {
        message: { queued: 3, dead: 1, unknown: 1, oldestQueuedAgeMs: 4.5 * MINUTE_MS },
        issue: NO_ROWS,
        comment: NO_ROWS,
        queuedBytes: 0,
        oldestCriticalAgeMs: 4.5 * MINUTE_MS,
        reserveBytes: 33_554_432,
      },
      canAccept: true,
      dead: [
        deadRow({ status: "unknown", alertname: "SSH Brute Force", code: "gateway_timeout", attempts: 3 }),
        deadRow({ status: "dead", alertname: "Traefik RAM Alta", code: "gateway_unreachable", attempts: 41 }),
      ],
      hours: Array.from({ length: 192 }, (_, at) => (at % 7 === 0 ? (at * 5) % 9 : at === 150 ? 42 : 0)),
      isQuarantined: false,
      recent: recentAlerts(),
    },
  };
}

function recentAlerts(): RecentAlert[] {
  const link = (path: string): RecentAlert["issue"] => {
    const url = `https://linear.app/example/issue/${path}`;
    return { status: "delivered", code: null, url };
  };
  const disk = link("OPS-7/raiz-cheia");
  const ended = { status: "resolved", firing: false };
  return [
    alert(
      4.5,
      { name: "Disco Raiz Baixo" },
      { status: "queued", code: "gateway_unreachable", isEmailed: true },
      disk,
    ),
    alert(...([7, { name: "RAM Disponível Baixa", severity: "high" }, { status: "queued" }] as const), {
      status: "queued",
      code: "tracker_rate_limited",
      url: null,
    }),
    alert(
      12,
      { name: "Vercel Deploy Falhado", severity: "warning", about: "loja-virtual", ...ended },
      {},
      null,
    ),
    alert(63, { name: "VPS Load Average Alto", severity: "warning" }, {}, link("OPS-6/load")),
    alert(
      ...([9 * 60, { name: "SSH Brute Force", squad: "security" }] as const),
      { status: "unknown", code: "gateway_timeout", endedAtMs: minutesAgo(530), isEmailed: true },
      disk,
    ),
    alert(
      ...([33 * 60, { name: "Traefik RAM Alta", severity: "info", about: "traefik" }] as const),
      { status: "dead", code: "gateway_unreachable", endedAtMs: minutesAgo(500) },
      { status: "dead", code: "tracker_input_refused", url: null },
    ),
  ];
}

/** A critical alert of so many minutes ago that was delivered at once, but for what is given. */
function alert(
  minutes: number,
  shown: Partial<RecentAlert["shown"]>,
  message: Partial<RecentAlert["message"]>,
  issue: RecentAlert["issue"],
): RecentAlert {
  const acceptedAtMs = minutesAgo(minutes);
  const isWaiting = message.status === "queued";
  return {
    ...{ row: 1, acceptedAtMs, issue },
    message: {
      ...{ status: "delivered", code: null, endedAtMs: isWaiting ? null : acceptedAtMs + 1_400 },
      ...{ isEmailed: false, ...message },
    },
    shown: {
      ...{ name: null, status: "firing", firing: true, severity: "critical", squad: "infra", about: "main" },
      ...shown,
    },
  };
}

function deadRow(row: Pick<DeadRow, "status" | "alertname" | "code" | "attempts">): DeadRow {
  return {
    ...{ id: 9, kind: "message", digest: null, fingerprint: "f9", squad: "infra" },
    ...{ acceptedAt: "2026-02-27T21:04:00Z", diedAt: "2026-02-28T21:09:00Z", ...row },
  };
}

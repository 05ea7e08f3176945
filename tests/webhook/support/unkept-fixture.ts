/** Sending from memory with a clock that a test moves, a gateway and a tracker whose answers it sets. */
import { TokenBucket } from "../../../lib/platform/rate/token-bucket.ts";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import type { AttemptResult } from "../../../lib/webhook/delivery/attempts/attempt.ts";
import { Sender } from "../../../lib/webhook/delivery/sending/sender.ts";
import { UnkeptAlerts } from "../../../lib/webhook/delivery/unkept/unkept-alerts.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import { UnkeptMemory } from "../../../lib/webhook/second-channel/unkept-memory.ts";
import type {
  DueRow,
  IssueClaim,
  OutboxKind,
  Settlement,
  TriedBefore,
} from "../../../lib/webhook/state/contract.ts";
import { silentLog } from "../../support/silent-log.ts";
import { retry } from "./retry.ts";

type Answer = AttemptResult | Promise<AttemptResult>;

/** A failure of one message, which says nothing about the next. */
export const REFUSED: AttemptResult = retry("gateway_refused");
/** A send whose answer was lost. */
export const UNCLEAR: AttemptResult = { ...REFUSED, code: "gateway_timeout", unclear: { knownAfterMs: 0 } };

/** A send that a proxy answered in the gateway's place. */
export const UNANSWERED: AttemptResult = {
  ...REFUSED,
  code: "gateway_http_504",
  unanswered: { knownAfterMs: 0 },
};

/** What a test sees and sets. */
export type UnkeptFixture = ReturnType<typeof openUnkept>;

/** `perMinute` messages after a burst of `burst`. */
export function openUnkept({ perMinute = 60, burst = 10 }: { perMinute?: number; burst?: number } = {}) {
  let clockMs = 1_000_000;
  const sleepers: { atMs: number; wake: () => void }[] = [];
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      sleepers.push({ atMs: clockMs + ms, wake: resolve });
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  const seen = {
    errors: [] as unknown[],
    texts: [] as string[],
    issues: [] as string[],
    lookedUp: 0,
    inFlight: { message: 0, issue: 0 },
    takenUp: [] as [row: number, tried: TriedBefore][],
    settled: [] as [row: number, settlement: Settlement][],
    remembered: [] as { fingerprint: string; claimedAtMs: number; url: string | null }[],
  };
  const answers = {
    message: (_row: DueRow): Answer => ({ status: "delivered", reference: "id", url: null }),
    issue: (_row: DueRow): Answer => ({ status: "delivered", reference: "OPS-1", url: "https://t/1" }),
    lookUp: false,
    claims: new Map<string, IssueClaim>(),
    claim: null as Promise<null> | null,
    isReadable: true,
    isWritable: false,
    /** Whether attempts of rows can be recorded. */
    begins: false,
    due: [] as DueRow[] | Promise<DueRow[]>,
  };
  const metrics = createWebhookMetrics({ version: "test" });
  const log = { ...silentLog, error: (text: string, facts: unknown) => seen.errors.push([text, facts]) };
  const common = { metrics, log, monotonicMs: () => clockMs, sleep };
  const senderOf = (kind: OutboxKind & ("message" | "issue"), rate: TokenBucket) =>
    new Sender({
      ...common,
      kind,
      state: {
        due: async () => await answers.due,
        membersOf: () => Promise.resolve([]),
        begin: () => (answers.begins ? Promise.resolve(true) : Promise.reject(new Error("disk full"))),
        settle: () => (answers.begins ? Promise.resolve() : Promise.reject(new Error("disk full"))),
        hold: async () => {},
      },
      attempt: async (row) => {
        if (kind === "message") seen.texts.push(row.text!);
        else seen.issues.push(row.alert.fingerprint);
        return await answers[kind](row);
      },
      lookUp: null,
      textOf: () => "text",
      concurrency: 4,
      rate,
      random: () => 0,
      onFree() {},
    });
  const message = senderOf("message", new TokenBucket({ perMinute, burst }, clockMs));
  const issue = senderOf("issue", new TokenBucket({ perMinute: 600, burst: 100 }, clockMs));
  const unheard = new UnkeptMemory({ nowMs: () => clockMs, monotonicMs: () => clockMs });
  const unkept = new UnkeptAlerts({
    ...common,
    message,
    issue,
    unheard,
    nowMs: () => clockMs,
    state: {
      async issueClaim(fingerprint) {
        if (!answers.isReadable) throw new Error("unreadable");
        return (await answers.claim) ?? answers.claims.get(fingerprint) ?? null;
      },
      async rememberIssues(issues) {
        if (!answers.isWritable) throw new Error("disk full");
        seen.remembered.push(...issues);
      },
      takeUp: async (...call) => void seen.takenUp.push(call),
      settle: async (...call) => void seen.settled.push(call),
    },
    async lookUp() {
      seen.lookedUp += 1;
      return answers.lookUp
        ? { status: "delivered", reference: "found", url: null }
        : { status: "not_found" };
    },
  });
  return {
    unkept,
    unheard,
    message,
    metrics,
    seen,
    answers,
    take: (...alerts: Alert[]) => unkept.take(alerts, clockMs),
    /** The state begins to keep an alert, in this row. */
    handOver: (messageRow: number, alert: Alert) =>
      unkept.handOver([[alert]], async () => {
        const issue = { status: "first", row: messageRow + 1, claimedAtMs: clockMs } as const;
        return [{ accepted: [{ alert, messageRow, isRepeat: false, issue }] }];
      }),
    /** Lets everything happen that needs no time. */
    settle: turns,
    async advance(ms: number) {
      const endMs = clockMs + ms;
      for (;;) {
        await turns();
        const next = sleepers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        sleepers.splice(sleepers.indexOf(next), 1);
        clockMs = Math.max(clockMs, next.atMs);
        next.wake();
      }
      clockMs = endMs;
      await turns();
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

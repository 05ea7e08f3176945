import type { Log } from "../../platform/log/log.ts";
import { TokenBucket } from "../../platform/rate/token-bucket.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { OutboxKind, Settlement, State } from "../state/contract.ts";
import type { Attempt, LookUp } from "./attempts/attempt.ts";
import { Dispatcher } from "./dispatcher.ts";
import { DetourTeller } from "./messages/detour-teller.ts";
import { digestGatherer } from "./messages/digest-gatherer.ts";
import { messageText } from "./messages/message-texts.ts";
import { Sender, type SenderDependencies } from "./sending/sender.ts";

/** How each kind is delivered; `comment` is null where comments are not set up. */
export type Attempts = { message: Attempt; issue: Attempt; comment: Attempt | null };

/** How fast things go out; `digestAfterSeconds` 0: each message by itself, however many wait. */
export type Pace = { messagesPerMinute: number; issuesPerHour: number; digestAfterSeconds: number };

/** What the dispatcher and its senders touch. */
export type DispatcherParts = {
  state: State;
  attempts: Attempts;
  /** Looks for a message that the gateway may have taken. */
  lookUp: LookUp;
  metrics: WebhookMetrics;
  log: Log;
  /** The clock that people read, for the times in texts. */
  nowMs: () => number;
  monotonicMs: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called when something was delivered. */
  onDelivered?: ((kind: OutboxKind) => void) | undefined;
};

const AT_ONCE: Record<OutboxKind, number> = { message: 4, issue: 4, comment: 2 };
const MESSAGE_BURST = 10;
const ISSUE_BURST = 100;
/** The state knows the attempts of the last hour. */
const REMEMBERED_MS = 60 * 60_000;

/** Makes the dispatcher with a sender for each kind; it delivers nothing before it is started. */
export function makeDispatcher(parts: DispatcherParts, pace: Pace): Dispatcher {
  const { state, log, monotonicMs, sleep } = parts;
  const now = monotonicMs();
  const buckets = {
    message: new TokenBucket({ perMinute: pace.messagesPerMinute, burst: MESSAGE_BURST }, now),
    issue: new TokenBucket({ perMinute: pace.issuesPerHour / 60, burst: ISSUE_BURST }, now),
  };
  return new Dispatcher(
    (told) => ({
      message: messageSender(parts, pace, { bucket: buckets.message, ...told }),
      issue: repeatableSender(parts, "issue", parts.attempts.issue, { bucket: buckets.issue, ...told }),
      comment: parts.attempts.comment && repeatableSender(parts, "comment", parts.attempts.comment, told),
    }),
    {
      state,
      log,
      monotonicMs,
      sleep,
      async onLead() {
        await recallPace(parts, "message", buckets.message);
        await recallPace(parts, "issue", buckets.issue);
      },
    },
  );
}

type Flow = Pick<SenderDependencies, "bucket" | "onFree" | "onRead">;

function messageSender(parts: DispatcherParts, pace: Pace, flow: Flow): Sender {
  const { state, attempts, lookUp, nowMs } = parts;
  const teller = new DetourTeller(parts);
  const { digestAfterSeconds: afterSeconds, messagesPerMinute: perMinute } = pace;
  return new Sender({
    ...parts,
    ...flow,
    kind: "message",
    attempt: attempts.message,
    lookUp,
    textOf: async (rows) => messageText(rows, { nowMs: nowMs(), detour: await teller.for(rows[0].id) }),
    concurrency: AT_ONCE.message,
    gatherDigest: digestGatherer(state, { afterSeconds, perMinute }),
    async onEnded(row, settlement) {
      tellDelivered(parts, "message", settlement);
      await teller.ended(row, settlement);
    },
  });
}

/** For a peer that knows a repetition by its id; the text is made anew for each attempt. */
function repeatableSender(
  parts: DispatcherParts,
  kind: "issue" | "comment",
  attempt: Attempt,
  flow: Flow,
): Sender {
  return new Sender({
    ...parts,
    ...flow,
    kind,
    attempt,
    lookUp: null,
    textOf: () => "",
    concurrency: AT_ONCE[kind],
    onEnded: (_row, settlement) => tellDelivered(parts, kind, settlement),
  });
}

function tellDelivered(
  { onDelivered }: DispatcherParts,
  kind: OutboxKind,
  settlement: Settlement | null,
): void {
  if (settlement?.status === "delivered") onDelivered?.(kind);
}

/** Counts what any process began to send lately: a restart must not allow a new burst. */
async function recallPace(
  { state, log, monotonicMs }: DispatcherParts,
  kind: OutboxKind,
  bucket: TokenBucket,
): Promise<void> {
  try {
    const spent = await state.begunWithin(kind, Math.min(bucket.fillMs, REMEMBERED_MS));
    bucket.restart(monotonicMs(), spent);
  } catch (error) {
    log.warn("It is not known how much went out lately", {
      kind,
      cause: error instanceof Error ? error.name : typeof error,
    });
    bucket.restart(monotonicMs(), Number.POSITIVE_INFINITY);
  }
}

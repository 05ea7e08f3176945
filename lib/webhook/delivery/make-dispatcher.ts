import type { Log } from "../../platform/log/log.ts";
import { type BurstLimit, TokenBucket } from "../../platform/rate/token-bucket.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { OutboxKind, Settlement, State } from "../state/contract.ts";
import type { Attempt, LookUp } from "./attempts/attempt.ts";
import { Dispatcher } from "./dispatcher.ts";
import { DetourTeller } from "./messages/detour-teller.ts";
import { digestGatherer } from "./messages/digest-gatherer.ts";
import { messageText } from "./messages/message-texts.ts";
import { Sender, type SenderDependencies } from "./sending/sender.ts";
import { SlidingMinute } from "./sending/sliding-minute.ts";

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
  const rates = {
    message: new SlidingMinute(messageRate(pace)),
    issue: new TokenBucket({ perMinute: pace.issuesPerHour / 60, burst: ISSUE_BURST }, now),
  };
  return new Dispatcher(
    (told) => ({
      message: messageSender(parts, pace, { rate: rates.message, ...told }),
      issue: repeatableSender(parts, "issue", parts.attempts.issue, { rate: rates.issue, ...told }),
      comment: parts.attempts.comment && repeatableSender(parts, "comment", parts.attempts.comment, told),
    }),
    {
      state,
      log,
      monotonicMs,
      sleep,
      async onLead() {
        await recallMessages(parts, rates.message);
        await recallIssues(parts, rates.issue);
      },
    },
  );
}

type Flow = Pick<SenderDependencies, "rate" | "onFree" | "onRead">;

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
async function recallMessages(parts: DispatcherParts, rate: SlidingMinute): Promise<void> {
  const { state, monotonicMs } = parts;
  try {
    await rate.restart(monotonicMs(), (ms) => state.begunWithin("message", ms));
  } catch (error) {
    warnOfUnknownPace(parts, "message", error);
    rate.restartUnknown(monotonicMs());
  }
}

/** As `recallMessages`. */
async function recallIssues(parts: DispatcherParts, bucket: TokenBucket): Promise<void> {
  const { state, monotonicMs } = parts;
  try {
    const spent = await state.begunWithin("issue", Math.min(bucket.fillMs, REMEMBERED_MS));
    bucket.restart(monotonicMs(), spent);
  } catch (error) {
    warnOfUnknownPace(parts, "issue", error);
    bucket.restart(monotonicMs(), Number.POSITIVE_INFINITY);
  }
}

function warnOfUnknownPace({ log }: DispatcherParts, kind: OutboxKind, error: unknown): void {
  const cause = error instanceof Error ? error.name : typeof error;
  log.warn("It is not known how much went out lately", { kind, cause });
}

/** At most a third of a minute's messages at once, so that a critical one need not wait until the minute ends. */
function messageRate({ messagesPerMinute: perMinute }: Pace): BurstLimit {
  return { perMinute, burst: Math.min(MESSAGE_BURST, Math.ceil(perMinute / 3)) };
}

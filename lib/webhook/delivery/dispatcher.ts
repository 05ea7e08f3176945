import type { Log } from "../../platform/log/log.ts";
import { OutageLog } from "../outage-log.ts";
import { OUTBOX_KINDS, type OutboxKind, type Settlement, type State } from "../state/contract.ts";
import type { ChannelStops } from "./attempts/attempt.ts";
import { Leadership } from "./leadership.ts";
import type { Sender } from "./sending/sender.ts";
import type { Aside } from "./unkept/aside.ts";

/** How long an issue waits for the first attempt of its own message, while messages can start. */
const ISSUE_GRACE_MS = 2_000;
const LOOK_MS = 1_000;
const PRUNE_MS = 60_000;

/** What is logged when this process begins or ceases to deliver, by what the state says of the role. */
const ROLE_LINES = {
  true: "This process delivers the outbox",
  false: "Another process delivers the outbox",
  null: "No process delivers the outbox: the state cannot say which one may",
} as const;

/** What delivers each kind; null for one that is not set up. */
type Senders = { message: Sender; issue: Sender; comment: Sender | null };
type DispatcherState = Pick<State, "lead" | "prune" | "holds">;

/**
 * Delivers the rows of the outbox: looks for them when told to, and once a second by itself.
 *
 * Shape:     `inFlight` as in `Sender`.
 * Behaviour: only the process that leads delivers; it begins with why its channels held before. `look` resolves when
 *            everything that could start has started. An issue waits two seconds at most for its own message, and not
 *            at all while no message can start.
 */
export class Dispatcher {
  readonly #senders: Senders;
  readonly #state: DispatcherState;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #onLead: () => Promise<void>;
  readonly #reads: OutageLog;
  readonly #removals: OutageLog;
  readonly #stopped = new AbortController();
  readonly #leadership: Leadership;
  #prunedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    makeSenders: (told: { onFree: () => void; onRead: () => void }) => Senders,
    dependencies: {
      state: DispatcherState;
      log: Log;
      monotonicMs: () => number;
      sleep: (ms: number, signal: AbortSignal) => Promise<void>;
      /** Called each time this process has begun to lead, before it delivers anything. */
      onLead: () => Promise<void>;
    },
  ) {
    this.#reads = new OutageLog({
      ...dependencies,
      problem: "The outbox cannot be read now",
      over: "The outbox can be read again",
    });
    this.#removals = new OutageLog({
      ...dependencies,
      level: "warn",
      problem: "Old rows could not be removed",
      over: "Old rows are removed again",
    });
    this.#leadership = new Leadership(dependencies.monotonicMs);
    this.#senders = makeSenders({ onFree: () => void this.look(), onRead: () => this.#reads.worked() });
    this.#state = dependencies.state;
    this.#log = dependencies.log;
    this.#monotonicMs = dependencies.monotonicMs;
    this.#sleep = dependencies.sleep;
    this.#onLead = dependencies.onLead;
  }

  get isLeading(): boolean {
    return this.#leadership.isLeading;
  }

  /** Whether this process tells people otherwise what waits; see `Leadership`. */
  get isTelling(): boolean {
    return this.#leadership.isTelling;
  }

  get stops(): ChannelStops {
    const { message, issue, comment } = this.#senders;
    return {
      message: message.stoppedBy,
      issue: issue.stoppedBy,
      comment: comment === null ? null : comment.stoppedBy,
    };
  }

  /** Begins to deliver, first what earlier processes left. */
  async start(): Promise<void> {
    await this.#keepLeading();
    await this.look();
    void this.#keepLooking();
  }

  /** How something of a kind goes out that is no row of the outbox. */
  aside(kind: "message" | "issue"): Aside {
    return this.#senders[kind];
  }

  inFlight(kind: OutboxKind, row: number): Promise<Settlement | null> | null {
    return this.#senders[kind]?.inFlight(row) ?? null;
  }

  /**
   * Makes the rows of a kind wait for a reason that was learnt without sending.
   *
   * Behaviour: holds for 90 seconds, and longer when it is said again; then one row finds out whether the peer still
   *            refuses.
   */
  async hold(kind: OutboxKind, reason: { code: string; cause?: string | undefined }): Promise<void> {
    await this.#senders[kind]?.hold(reason);
  }

  /** The peer of a kind is known to take alerts again: its rows go on at once. */
  async open(kind: OutboxKind): Promise<void> {
    await this.#senders[kind]?.open();
    await this.look();
  }

  /** Lets one row of each kind that waits for its peer find out at once whether that is still so. */
  async probe(): Promise<void> {
    for (const kind of OUTBOX_KINDS) this.#senders[kind]?.probe();
    await this.look();
  }

  /** Starts the rows that may start now; without `issues` only messages. */
  async look({ issues }: { issues: boolean } = { issues: true }): Promise<void> {
    if (this.#stopped.signal.aborted || !this.isLeading) return;
    try {
      await this.#senders.message.pump({ issueGraceMs: 0 });
      if (!issues) return;
      await this.#lookAtIssues();
      await this.#senders.comment?.pump({ issueGraceMs: 0 });
    } catch (error) {
      this.#reads.failed({ cause: error instanceof Error ? error.name : typeof error });
    }
  }

  /** Starts nothing more; what is on its way may take `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    await Promise.all(OUTBOX_KINDS.map((kind) => this.#senders[kind]?.stop(graceMs)));
  }

  async #lookAtIssues(): Promise<void> {
    const { message, issue } = this.#senders;
    const issueGraceMs = message.startable > 0 ? ISSUE_GRACE_MS : 0;
    await issue.pump(
      { issueGraceMs },
      (row) => row.waitedMs >= ISSUE_GRACE_MS || !message.isSending(row.alert.fingerprint, row.id),
    );
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      await this.#sleep(LOOK_MS, signal).catch(() => {});
      if (signal.aborted) return;
      await this.#keepLeading();
      await this.look();
      await this.#prune();
    }
  }

  async #keepLeading(): Promise<void> {
    const wasLeading = this.isLeading;
    const leads = await this.#state.lead().catch(() => null);
    if (leads && !wasLeading) {
      await this.#recallHolds();
      await this.#onLead();
    }
    this.#leadership.learn(leads);
    if (wasLeading !== this.isLeading) this.#log.info(ROLE_LINES[`${leads}`]);
  }

  async #recallHolds(): Promise<void> {
    try {
      const holds = await this.#state.holds();
      for (const kind of OUTBOX_KINDS) this.#senders[kind]?.recall(holds[kind]?.code ?? null);
    } catch (error) {
      this.#log.warn("It is not known which peer refused us before", {
        cause: error instanceof Error ? error.name : typeof error,
      });
    }
  }

  async #prune(): Promise<void> {
    if (!this.isLeading || this.#monotonicMs() - this.#prunedAtMs < PRUNE_MS) return;
    this.#prunedAtMs = this.#monotonicMs();
    try {
      await this.#state.prune();
      this.#removals.worked();
    } catch (error) {
      // The state is closed while it removes: the next process goes on.
      if (this.#stopped.signal.aborted) return;
      this.#removals.failed({ cause: error instanceof Error ? error.name : typeof error });
    }
  }
}

import type { Log } from "../../platform/log/log.ts";
import type { OutboxKind, Settlement, State } from "../state/contract.ts";
import type { ChannelStops } from "./attempt.ts";
import type { Sender } from "./sender.ts";

/** How long an issue waits for the first attempt of its own message, while messages can start. */
const ISSUE_GRACE_MS = 2_000;
const LOOK_MS = 1_000;
const PRUNE_MS = 60_000;

/** What delivers each kind. */
type Senders = Record<Exclude<OutboxKind, "comment">, Sender>;

/**
 * Delivers the rows of the outbox: looks for them when told to, and once a second by itself.
 *
 * Shape:     `inFlight` as in `Sender`.
 * Behaviour: only the process that leads delivers. `look` resolves when everything that could start has started. An issue
 *            waits two seconds at most for its own message, and not at all while no message can start.
 */
export class Dispatcher {
  readonly #senders: Senders;
  readonly #state: Pick<State, "lead" | "prune">;
  readonly #log: Log;
  readonly #monotonicMs: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #onLead: () => Promise<void>;
  readonly #stopped = new AbortController();
  #isLeading = false;
  #prunedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    makeSenders: (onFree: () => void) => Senders,
    dependencies: {
      state: Pick<State, "lead" | "prune">;
      log: Log;
      monotonicMs: () => number;
      sleep: (ms: number, signal: AbortSignal) => Promise<void>;
      /** Called each time this process has begun to lead, before it delivers anything. */
      onLead: () => Promise<void>;
    },
  ) {
    this.#senders = makeSenders(() => void this.look());
    this.#state = dependencies.state;
    this.#log = dependencies.log;
    this.#monotonicMs = dependencies.monotonicMs;
    this.#sleep = dependencies.sleep;
    this.#onLead = dependencies.onLead;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  get stops(): ChannelStops {
    return { message: this.#senders.message.stoppedBy, issue: this.#senders.issue.stoppedBy, comment: null };
  }

  /** Begins to deliver, first what earlier processes left. */
  async start(): Promise<void> {
    await this.#keepLeading();
    await this.look();
    void this.#keepLooking();
  }

  inFlight(kind: keyof Senders, row: number): Promise<Settlement | null> | null {
    return this.#senders[kind].inFlight(row);
  }

  /** Starts the rows that may start now; without `issues` only messages. */
  async look({ issues }: { issues: boolean } = { issues: true }): Promise<void> {
    if (this.#stopped.signal.aborted || !this.#isLeading) return;
    try {
      await this.#senders.message.pump({ issueGraceMs: 0 });
      if (issues) await this.#lookAtIssues();
    } catch (error) {
      this.#log.error("The outbox cannot be read now", {
        cause: error instanceof Error ? error.name : typeof error,
      });
    }
  }

  /** Starts nothing more; what is on its way may take `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#senders.message.stop(graceMs), this.#senders.issue.stop(graceMs)]);
  }

  async #lookAtIssues(): Promise<void> {
    const { message, issue } = this.#senders;
    const issueGraceMs = message.startable > 0 ? ISSUE_GRACE_MS : 0;
    await issue.pump(
      { issueGraceMs },
      (row) => row.waitedMs >= ISSUE_GRACE_MS || !message.isSending(row.alert.fingerprint),
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
    const wasLeading = this.#isLeading;
    const leads = await this.#state.lead().catch(() => false);
    if (leads && !wasLeading) await this.#onLead();
    this.#isLeading = leads;
    if (wasLeading !== this.#isLeading)
      this.#log.info(
        this.#isLeading ? "This process delivers the outbox" : "Another process delivers the outbox",
      );
  }

  async #prune(): Promise<void> {
    if (!this.#isLeading || this.#monotonicMs() - this.#prunedAtMs < PRUNE_MS) return;
    this.#prunedAtMs = this.#monotonicMs();
    await this.#state.prune().catch((error: unknown) => {
      this.#log.warn("Old rows could not be removed", {
        cause: error instanceof Error ? error.name : typeof error,
      });
    });
  }
}

import { withTimeout } from "../../platform/timeout.ts";
import type { Alert } from "../alert/alert.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { OutageLog } from "../outage-log.ts";
import {
  type AcceptedAlert,
  type AcceptOutcome,
  type AlertRecord,
  type AttemptEnd,
  ISSUE_TTL_MS,
  type OutboxLimits,
} from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import { CommitUnknown } from "../store/sql.ts";
import { type Deliveries, type Placed, placedIn } from "./alert-answer.ts";
import type { DispatcherParts, Source } from "./parts.ts";
import { nameOf } from "./report.ts";

/** The result of one post; a refused one was not kept, except with `mayBeKept`. */
export type Acceptance = { placed: Placed[] } | Extract<AcceptOutcome, { refused: unknown }>;

/** What degraded mode works with. */
export type DegradedModeDependencies = Pick<
  DispatcherParts,
  "durable" | "log" | "nowMs" | "monotonicMs" | "sleep"
> & {
  openMemory: (limits: OutboxLimits) => State;
  inFlight: Deliveries["inFlight"];
  metrics: Pick<WebhookMetrics, "degradedSent">;
};

/** An alert that was accepted in memory, until its post is answered with 200. */
type Entry = Placed & { settle: () => void; settledAtMs: number | null };

/**
 * The state in memory.
 *
 * Shape: `isClosing` while it starts no more rows. `read` are the fingerprints that the durable one was asked for, `rows`
 *        those that wait. Rows are taken over at `adoptAtMs` at the earliest.
 */
type Memory = {
  state: State;
  isClosing: boolean;
  read: Set<string>;
  rows: Map<number, Entry>;
  adoptAtMs: number;
};

/** What may be lost with this process: more than the rate limit lets out in hours. */
const MEMORY_LIMITS: OutboxLimits = { rows: 10_000, bytes: 67_108_864 };
/** How often the durable state is tried; how long a post, and a service that stops, waits for it. */
const DURABLE_MS = 1_000;
/** How long a durable state is left alone that did not answer, or had no room for what is in memory. */
const LEFT_ALONE_MS = 30_000;
/** How many of the latest claims are known while the durable state cannot be read. */
const MOST_CLAIMS = 10_000;
/** How long a delivered alert is known to a repetition of its post. */
const KNOWN_MS = 30 * 60_000;

/**
 * Degraded mode: alerts go to a state in memory while the durable one takes none. On a full disk that has used up its
 * reserve first (`store/sqlite/reserve.ts`).
 *
 * Behaviour: begins when the durable state certainly kept nothing of a post. When that takes writes again, which is
 *            tried once a second, it takes over the claims at once; and all rows, which ends degraded mode, when what is
 *            in flight has ended and there is room for them. Until then posts go to memory. An alert of a post that was not
 *            answered with 200 is not accepted again when the post is repeated: it is waited for, or known to be
 *            delivered for 30 minutes.
 */
export class DegradedMode {
  readonly #dependencies: DegradedModeDependencies;
  readonly #returns: OutageLog;
  readonly #entries = new Map<string, Entry>();
  readonly #claims = new Map<string, AlertRecord>();
  #unreadableUntilMs = Number.NEGATIVE_INFINITY;
  readonly #stopped = new AbortController();
  #memory: Memory | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(dependencies: DegradedModeDependencies) {
    this.#dependencies = dependencies;
    const problem = "The state does not take over what is in memory";
    this.#returns = new OutageLog({ ...dependencies, problem });
  }

  /** The state in memory, for the lanes; none outside degraded mode. */
  get sources(): readonly Source[] {
    const memory = this.#memory;
    return memory === null ? [] : [{ state: memory.state, isOurs: () => !memory.isClosing }];
  }

  /** As `State.accept`, in the state that takes alerts now. */
  accept(posts: readonly (readonly Alert[])[]): Promise<Acceptance[]> {
    return this.#exclusively(async () => {
      if (this.#memory !== null && !this.#stopped.signal.aborted)
        return await this.#acceptInMemory(this.#memory, posts);
      const outcomes = await this.#acceptDurably(posts);
      const lost = posts.filter((_, at) => isLost(outcomes[at]!));
      if (lost.length === 0 || this.#stopped.signal.aborted) return outcomes;
      const inMemory = (await this.#acceptInMemory(this.#open(), lost)).values();
      return outcomes.map((outcome) => (isLost(outcome) ? inMemory.next().value! : outcome));
    });
  }

  /** Forgets the alerts of a post that is answered with 200: if they come again, that is another notification. */
  answered(placed: readonly Placed[]): void {
    if (this.#entries.size === 0) return;
    for (const { accepted } of placed) this.#entries.delete(keyOf(accepted.alert));
  }

  /** To be called when an attempt has ended, with all rows of its text. */
  ended(state: State, rows: readonly number[], end: AttemptEnd | null): void {
    const memory = this.#memory;
    if (end === null || memory?.state !== state) return;
    for (const row of rows) {
      const entry = memory.rows.get(row);
      if (entry === undefined) continue;
      if (end.status !== "retry") memory.rows.delete(row);
      const isMessage = row === entry.accepted.messageRow;
      entry[isMessage ? "message" : "issue"] = end;
      if (isMessage && end.status === "delivered") this.#dependencies.metrics.degradedSent();
      if (isMessage && end.status !== "retry") entry.settle();
    }
  }

  /** Ends degraded mode when the durable state takes writes; resolves after `stop`. */
  async run(): Promise<void> {
    const { sleep, monotonicMs } = this.#dependencies;
    while (!this.#stopped.signal.aborted) {
      await sleep(DURABLE_MS, this.#stopped.signal);
      if (this.#memory !== null) await this.#tryReturn(this.#memory);
      for (const [key, { settledAtMs }] of this.#entries)
        if (settledAtMs !== null && monotonicMs() - settledAtMs >= KNOWN_MS) this.#entries.delete(key);
    }
  }

  /** Tries once more to have the rows in memory taken over; posts that wait for them are refused otherwise. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const memory = this.#memory;
    if (memory !== null) {
      memory.isClosing = true;
      await inTime(this.#exclusively(() => this.#adopt(memory)));
      const rows = this.#memory && (await memory.state.listQueued(MEMORY_LIMITS.rows)).length;
      if (rows) this.#dependencies.log.error("Alerts in memory may be lost with this process", { rows });
    }
    for (const { settle } of this.#entries.values()) settle();
  }

  async #acceptDurably(posts: readonly (readonly Alert[])[]): Promise<Acceptance[]> {
    const { durable } = this.#dependencies;
    if (posts.length === 0) return [];
    const find = (alert: Alert) => (this.#entries.size === 0 ? undefined : this.#entries.get(keyOf(alert)));
    const known = posts.map((alerts) => alerts.map(find));
    const fresh = posts.map((alerts, post) => alerts.filter((_, at) => known[post]![at] === undefined));
    return (await durable.accept(fresh)).map((outcome, post) => {
      if ("refused" in outcome) return outcome;
      for (const each of outcome.accepted) this.#remember(each);
      const accepted = outcome.accepted.values();
      return { placed: known[post]!.map((entry) => entry ?? placedIn(durable, accepted.next().value!)) };
    });
  }

  async #acceptInMemory(memory: Memory, posts: readonly (readonly Alert[])[]): Promise<Acceptance[]> {
    const entries = new Map<string, Entry | undefined>();
    const isNew = (key: string) => {
      const isFirst = !entries.has(key);
      if (isFirst) entries.set(key, this.#entries.get(key));
      return isFirst && entries.get(key) === undefined;
    };
    const fresh = posts.map((alerts) => alerts.filter((alert) => isNew(keyOf(alert))));
    await this.#readRecords(memory, fresh.flat());
    for (const outcome of await memory.state.accept(fresh))
      for (const accepted of "accepted" in outcome ? outcome.accepted : [])
        entries.set(keyOf(accepted.alert), this.#enter(memory, accepted));
    return posts.map((alerts) => {
      const placed = alerts.flatMap((alert) => entries.get(keyOf(alert)) ?? []);
      return placed.length === alerts.length ? { placed } : { refused: "outbox_full" };
    });
  }

  #enter(memory: Memory, accepted: AcceptedAlert): Entry {
    this.#remember(accepted);
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    const settle = () => {
      entry.settledAtMs ??= this.#dependencies.monotonicMs();
      resolve();
    };
    const waiting = { isDurable: false, settled, settle, settledAtMs: null };
    const entry: Entry = { ...placedIn(memory.state, accepted), ...waiting };
    this.#entries.set(keyOf(accepted.alert), entry);
    memory.rows.set(accepted.messageRow, entry);
    if (accepted.issue.status === "first") memory.rows.set(accepted.issue.row, entry);
    return entry;
  }

  /** Copies what the durable state knows of the alerts, where it can be read: a full disk can. Else what it said counts. */
  async #readRecords({ state, read }: Memory, of: readonly Alert[]): Promise<void> {
    const { durable, monotonicMs } = this.#dependencies;
    const unread = [...new Set(of.map(({ fingerprint }) => fingerprint))].filter((one) => !read.has(one));
    if (unread.length === 0) return;
    const isReadable = monotonicMs() >= this.#unreadableUntilMs;
    const found = isReadable ? await inTime(durable.alertRecords(unread)) : null;
    if (isReadable && found === null) this.#unreadableUntilMs = monotonicMs() + LEFT_ALONE_MS;
    const alerts = found ?? unread.flatMap((fingerprint) => this.#claims.get(fingerprint) ?? []);
    for (const fingerprint of unread) read.add(fingerprint);
    if (alerts.length > 0) await state.adopt({ alerts, rows: [] });
  }

  /** Remembers the claim on an alert's issue, from its first firing on. */
  #remember({ alert: { fingerprint, startsAt }, issue }: AcceptedAlert): void {
    if (issue.status === "not_firing") return;
    const { issueId } = issue;
    if (this.#claims.get(fingerprint)?.issueId === issueId) return;
    const seenAtMs = this.#dependencies.nowMs();
    const claim = { issueId, issueUrl: null, claimUntilMs: seenAtMs + ISSUE_TTL_MS };
    this.#claims.delete(fingerprint);
    this.#claims.set(fingerprint, { fingerprint, isFiring: true, startsAt, seenAtMs, ...claim });
    if (this.#claims.size > MOST_CLAIMS) this.#claims.delete(this.#claims.keys().next().value!);
  }

  #open(): Memory {
    const state = this.#dependencies.openMemory(MEMORY_LIMITS);
    const open = { isClosing: false, adoptAtMs: Number.NEGATIVE_INFINITY };
    this.#memory = { state, read: new Set(), rows: new Map(), ...open };
    this.#dependencies.log.error("Degraded mode: the state takes no alerts, they are delivered from memory");
    return this.#memory;
  }

  async #tryReturn(memory: Memory): Promise<void> {
    const { durable, inFlight, monotonicMs } = this.#dependencies;
    const takesWrites = (await durable.check().catch(nameOf)) === undefined;
    // A state that stays unavailable must not silence memory.
    memory.isClosing &&= takesWrites;
    if (!takesWrites) return;
    try {
      await this.#exclusively(() => this.#adoptClaims(memory));
      if (monotonicMs() < memory.adoptAtMs) return;
      memory.isClosing = true;
      let flights: Promise<unknown>[];
      do {
        const rows = await memory.state.listQueued(MEMORY_LIMITS.rows);
        flights = rows.flatMap(({ id }) => inFlight(memory.state, id) ?? []);
        await Promise.all(flights);
      } while (flights.length > 0);
      await this.#exclusively(() => this.#adopt(memory));
    } catch (error) {
      // What may have been taken over is not sent from memory as well; whether it was is known with the next try.
      memory.isClosing = error instanceof CommitUnknown;
      if (!memory.isClosing) memory.adoptAtMs = monotonicMs() + LEFT_ALONE_MS;
      this.#returns.failed({ cause: nameOf(error) });
    }
  }

  async #adoptClaims(memory: Memory): Promise<void> {
    await this.#dependencies.durable.adopt({ ...(await memory.state.contents()), rows: [] });
  }

  async #adopt(memory: Memory): Promise<void> {
    if (this.#memory !== memory) return;
    const rows = await this.#dependencies.durable.adopt(await memory.state.contents());
    this.#memory = null;
    for (const entry of this.#entries.values()) {
      entry.isDurable = true;
      entry.settle();
    }
    this.#returns.worked();
    this.#dependencies.log.info("Degraded mode is over: the state takes alerts again", { rows });
    await memory.state.close();
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}

/** Alerts with the same key are one alert, posted again. */
function keyOf({ fingerprint, status, startsAt, endsAt, firing }: Alert): string {
  return JSON.stringify([fingerprint, status, startsAt, firing ? null : endsAt]);
}

/** What the durable state says within a second; null when it fails or takes longer. */
function inTime<T>(work: Promise<T>): Promise<T | null> {
  const none = () => null;
  return withTimeout({ limitMs: DURABLE_MS }, () => work.catch(none), none);
}

function isLost(outcome: Acceptance): boolean {
  return "refused" in outcome && outcome.refused === "state_unavailable" && outcome.mayBeKept !== true;
}

import { randomUUID } from "node:crypto";
import type { Log } from "../../platform/log/log.ts";
import type { Alert } from "../alert/alert.ts";
import { OutageLog } from "../outage-log.ts";
import { acceptRequests } from "./accept.ts";
import { adoptContents, readContents } from "./adopt.ts";
import { addToNote, beginAttempt, finishAttempt, NotBegun } from "./attempts.ts";
import { findDigestible, findDue } from "./due.ts";
import { Load } from "./load.ts";
import type {
  AcceptOutcome,
  AttemptEnd,
  AttemptStart,
  Contents,
  DueQuery,
  DueRow,
  OutboxKind,
  OutboxLimits,
} from "./model.ts";
import { dropDead, dropQueued, listDead, listQueued, retryDead } from "./operator.ts";
import { prune } from "./prune.ts";
import * as reads from "./reads.ts";
import { recordsOf } from "./records.ts";
import { CommitUnknown, inList, type Sql, type Store } from "./sql.ts";
import { storableText } from "./stored.ts";

/** The webhook's memory: see `outboxOn`. */
export type State = ReturnType<typeof outboxOn>;
/** What waits and what ended; `oldestCriticalAgeMs` is of messages, `reserveBytes` as in `Store`. */
export type OutboxStats = Awaited<ReturnType<State["stats"]>>;

/**
 * The webhook's memory in a store: outbox and dedup of issues together, so that one transaction covers both.
 *
 * Shape:     `comments`: whether the end of an alert is commented on its issue.
 * Behaviour: every write is on disk when its promise resolves. `accept` commits the requests it is given together; each
 *            is kept whole or not at all. Times are those of the store's own clock. Of the alert of a delivered row only
 *            what `recent` shows is kept.
 * Errors:    `accept` refuses instead of throwing; the others throw what the store throws, and then nothing was changed.
 */
export function outboxOn(
  store: Store,
  { limits, comments, log }: { limits: OutboxLimits; comments: boolean; log: Log },
) {
  const id = randomUUID();
  const load = new Load(limits);
  const finish = (row: number, end: AttemptEnd) => store.write((sql) => finishAttempt(sql, row, end));
  return {
    accept: acceptor(store, { load, comments, log }),
    due: (kind: OutboxKind, query: DueQuery) => store.read((sql) => findDue(sql, kind, query)),
    digestible: (except: readonly number[], most: number) =>
      store.read((sql) => findDigestible(sql, except, most)),
    /** False, with nothing changed, when the attempt must not begin. */
    async begin(row: Pick<DueRow, "id" | "attempts">, start: AttemptStart) {
      try {
        await store.write((sql) => beginAttempt(sql, row, start, store.leads));
        return true;
      } catch (error) {
        if (error instanceof NotBegun) return false;
        throw error;
      }
    },
    finish,
    heldReferences: async (kind: OutboxKind, references: readonly string[]) =>
      references.length === 0
        ? new Set<string>()
        : await store.read((sql) => reads.readHeld(sql, kind, references)),
    lanes: () => store.read(reads.readLanes),
    /** Keeps why a lane is paused; null: it is not. */
    pauseLane: (kind: OutboxKind, code: string | null) =>
      setMeta(store, `paused:${kind}`, code && storableText(code)),
    async stats() {
      return { ...(await store.read(reads.readStats)), reserveBytes: await store.reserveBytes() };
    },
    listDead: (limit?: number) => store.read((sql) => listDead(sql, limit)),
    retryDead: (rows: readonly number[] | null) => retryDead(store, rows),
    dropDead: (rows: readonly number[] | null) => dropDead(store, rows),
    listQueued: (limit: number) => store.read((sql) => listQueued(sql, limit)),
    dropQueued: (rows: readonly number[] | null) => dropQueued(store, rows),
    latest: (fingerprint: string) => store.read((sql) => reads.readLatest(sql, fingerprint)),
    deliveredBetween: (newerThanMs: number, olderThanMs: number) =>
      store.read((sql) => reads.readDelivered(sql, newerThanMs, olderThanMs)),
    escalations: (waitedMs: number) => store.read((sql) => reads.readEscalations(sql, waitedMs)),
    /** The pending fallback e-mail, as it was kept; null when none is. */
    pendingEmail: () => store.read((sql) => reads.readMeta(sql, "email")),
    /** Keeps one before it is sent, in place of another; null: none is pending any more. */
    keepEmail: (email: string | null) => setMeta(store, "email", email),
    /** Records that the alerts of these rows were e-mailed, and that no e-mail is pending any more. */
    recordEmailed: (rows: readonly number[]) => store.write((sql) => recordEmailed(sql, rows)),
    recoveryNote: () => store.read(reads.readNote),
    recent: (limit: number) => store.read((sql) => reads.readRecent(sql, limit)),
    hourly: (hours: number) => store.read((sql) => reads.readHourly(sql, hours)),
    alertRecords: (fingerprints: readonly string[]) =>
      store.read((sql) => recordsOf(sql, new Set(fingerprints))),
    contents: () => store.read((sql) => readContents(sql, id)),
    adopt: (contents: Contents) => store.write((sql) => adoptContents(sql, contents)),
    prune: () => prune(store),
    /** Whether this process delivers; it takes that role when no process has it. Throws when that is not known. */
    lead: () => store.lead(),
    /** Throws when nothing could be accepted now: needs the disk as an alert does, and changes nothing. */
    check: () => store.check(),
    /** Where a file that could not be read was moved to, or null. */
    get quarantined() {
      return store.quarantined;
    },
    close: () => store.close(),
  };
}

type AcceptParts = { load: Load; comments: boolean; log: Log };

function acceptor(store: Store, { load, comments, log }: AcceptParts) {
  const outage = new OutageLog({
    log,
    problem: "Alerts are refused: the state cannot be written",
    over: "Alerts are accepted again",
    monotonicMs: () => performance.now(),
  });
  return async (requests: readonly (readonly Alert[])[]): Promise<AcceptOutcome[]> => {
    try {
      const { outcomes, added } = await store.write((sql) =>
        acceptRequests(sql, requests, { load, comments }),
      );
      load.add(added);
      outage.worked();
      return outcomes;
    } catch (error) {
      outage.failed({ cause: error });
      const refused: AcceptOutcome = { refused: "state_unavailable" };
      return requests.map(() => (error instanceof CommitUnknown ? { ...refused, mayBeKept: true } : refused));
    }
  };
}

async function setMeta(store: Store, key: string, value: string | null): Promise<void> {
  const set = `insert into {meta} as old (key, value) values ($1, $2)
    on conflict (key) do update set value = excluded.value`;
  await store.write((sql) =>
    value === null ? sql.run("delete from {meta} where key = $1", [key]) : sql.run(set, [key, value]),
  );
}

async function recordEmailed(sql: Sql, rows: readonly number[]): Promise<void> {
  const { marks, values } = inList(rows);
  const emailed = await sql.run(
    `update {outbox} set emailed_at = {now} where id in (${marks}) and kind = 'message' and emailed_at is null`,
    values,
  );
  await addToNote(sql, { emailed, undelivered: 0 });
  await sql.run("delete from {meta} where key = 'email'");
}

import { randomUUID } from "node:crypto";
import type { Log } from "../../platform/log/log.ts";
import type { Alert } from "../alert/alert.ts";
import { OutageLog } from "../outage-log.ts";
import { acceptRequests } from "./accept.ts";
import { adoptContents, readContents } from "./adopt.ts";
import { addToNote, beginAttempt, finishAttempt, NotBegun } from "./attempts.ts";
import { findDigestible, findDue } from "./due.ts";
import { Load } from "./load.ts";
import { dropDead, dropQueued, listDead, listQueued, retryDead } from "./operator.ts";
import { prune } from "./prune.ts";
import * as reads from "./reads.ts";
import { recordsOf } from "./records.ts";
import { CommitUnknown, inList, type Sql, type Store } from "./sql.ts";
import { storableText } from "./stored.ts";
import type { AcceptOutcome, AttemptEnd, OutboxLimits, State } from "./types.ts";

/**
 * The webhook's memory in a store.
 *
 * Shape: `comments`: whether the end of an alert is commented on its issue.
 */
export function outboxOn(
  store: Store,
  { limits, comments, log }: { limits: OutboxLimits; comments: boolean; log: Log },
): State {
  const id = randomUUID();
  const load = new Load(limits);
  const read = <T>(work: (sql: Sql) => Promise<T>) => store.read("read the outbox", work);
  const finish = (row: number, end: AttemptEnd) =>
    store.write("record an attempt", (sql) => finishAttempt(sql, row, end));
  return {
    accept: acceptor(store, { load, comments, log }),
    due: (kind, query) => read((sql) => findDue(sql, kind, query)),
    digestible: (except, most) => read((sql) => findDigestible(sql, except, most)),
    async begin(row, start) {
      try {
        await store.write("record an attempt", (sql) => beginAttempt(sql, row, start, store.leads));
        return true;
      } catch (error) {
        if (error instanceof NotBegun) return false;
        throw error;
      }
    },
    finish,
    heldReferences: async (kind, references) =>
      references.length === 0 ? new Set() : await read((sql) => reads.readHeld(sql, kind, references)),
    lanes: () => read(reads.readLanes),
    pauseLane: (kind, code) => setMeta(store, `paused:${kind}`, code && storableText(code)),
    async stats() {
      return { ...(await read(reads.readStats)), reserveBytes: await store.reserveBytes() };
    },
    listDead: (limit) => read((sql) => listDead(sql, limit)),
    retryDead: (rows) => retryDead(store, rows),
    dropDead: (rows) => dropDead(store, rows),
    listQueued: (limit) => read((sql) => listQueued(sql, limit)),
    dropQueued: (rows) => dropQueued(store, rows),
    latest: (fingerprint) => read((sql) => reads.readLatest(sql, fingerprint)),
    deliveredBetween: (newerThanMs, olderThanMs) =>
      read((sql) => reads.readDelivered(sql, newerThanMs, olderThanMs)),
    escalations: (waitedMs) => read((sql) => reads.readEscalations(sql, waitedMs)),
    pendingEmail: () => read((sql) => reads.readMeta(sql, "email")),
    keepEmail: (email) => setMeta(store, "email", email),
    recordEmailed: (rows) => store.write("record an e-mail", (sql) => recordEmailed(sql, rows)),
    recoveryNote: () => read(reads.readNote),
    recent: (limit) => read((sql) => reads.readRecent(sql, limit)),
    hourly: (hours) => read((sql) => reads.readHourly(sql, hours)),
    alertRecords: (fingerprints) => read((sql) => recordsOf(sql, new Set(fingerprints))),
    contents: () => read((sql) => readContents(sql, id)),
    adopt: (contents) => store.write("keep alerts", (sql) => adoptContents(sql, contents)),
    prune: () => prune(store),
    lead: () => store.lead(),
    check: () => store.check(),
    get quarantined() {
      return store.quarantined;
    },
    close: () => store.close(),
  };
}

type AcceptParts = { load: Load; comments: boolean; log: Log };

/** Requests are accepted together; when the store refuses a row of one, each by itself, so that only that is refused. */
function acceptor(store: Store, { load, comments, log }: AcceptParts): State["accept"] {
  const outage = new OutageLog({
    log,
    problem: "Alerts are refused: the state cannot be written",
    over: "Alerts are accepted again",
    monotonicMs: () => performance.now(),
  });
  const accept = async (requests: readonly (readonly Alert[])[]): Promise<AcceptOutcome[]> => {
    try {
      const { outcomes, added } = await store.write("keep alerts", (sql) =>
        acceptRequests(sql, requests, { load, comments }),
      );
      load.add(added);
      outage.worked();
      return outcomes;
    } catch (error) {
      if (store.isRowRefused(error) && requests.length > 1) return await each(requests);
      outage.failed({ cause: error });
      const refused = error instanceof CommitUnknown ? MAY_BE_KEPT : REFUSED;
      return requests.map(() => (store.isRowRefused(error) ? ROW_REFUSED : refused));
    }
  };
  const each = async (requests: readonly (readonly Alert[])[]) => {
    const outcomes: AcceptOutcome[] = [];
    for (const request of requests) outcomes.push(...(await accept([request])));
    return outcomes;
  };
  return accept;
}

const REFUSED: AcceptOutcome = { refused: "state_unavailable" };
const ROW_REFUSED: AcceptOutcome = { refused: "row_refused" };
const MAY_BE_KEPT: AcceptOutcome = { refused: "state_unavailable", mayBeKept: true };

async function setMeta(store: Store, key: string, value: string | null): Promise<void> {
  const set = `insert into {meta} as old (key, value) values ($1, $2)
    on conflict (key) do update set value = excluded.value`;
  await store.write("keep a setting", (sql) =>
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

import { type SqliteDedup, sqliteDedup } from "../../../dedup/sqlite.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import type { Log } from "../../../platform/log/log.ts";
import { type DueRow, OUTBOX_LIMITS, type OutboxLimits, type State } from "../contract.ts";
import { RefusalLog } from "../refusal-log.ts";
import { dispatcherLockPath, openStateFile } from "./file/open.ts";
import type { UnreadableRow } from "./outbox/deliver/read-row.ts";
import type { Outbox } from "./outbox/outbox.ts";
import { OutboxFile } from "./outbox-file.ts";
import type { ReserveSize } from "./reserve/reserve-size.ts";
import { SharedCommit } from "./shared-commit.ts";

/**
 * Where the state is, its clock, how much may wait in it, whether the end of an alert is told on its issue (no, unless
 * told so), and what is kept for a full disk (nothing, unless told so: the service does).
 */
export type SqliteStateOptions = {
  directory: string;
  nowMs: () => number;
  limits?: OutboxLimits;
  comments?: boolean;
  reserve?: ReserveSize;
  log: Log;
};

/**
 * The state in `state.db` of a directory, for several processes at once.
 *
 * Shape:     see `State`.
 * Behaviour: a damaged file is mended before anything else happens; one that is found damaged later is closed, and a
 *            later call opens it again, which mends it.
 * Errors:    STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteState(options: SqliteStateOptions): Promise<State> {
  const { directory, log, limits = OUTBOX_LIMITS, comments = false, reserve = null } = options;
  const file = new OutboxFile({ ...options, limits, comments, reserve });
  const commit = new SharedCommit(file);
  let lock: FileLock | null = null;
  return {
    accept: acceptor(commit, log),
    begin: (row, begun) => commit.begin(row, begun),
    takeUp: (row, tried) => commit.takeUp(row, tried),
    settle: (row, settlement) => commit.settle(row, settlement),
    due: async (kind, query) =>
      file.use((outbox) => withoutUnreadable(outbox.due(kind, query), { outbox, log })),
    digestible: async (except) =>
      file.use((outbox) => withoutUnreadable(outbox.digestible(except), { outbox, log })),
    membersOf: async (row) => file.use((outbox) => withoutUnreadable(outbox.membersOf(row), { outbox, log })),
    ...readsOf(file),
    retryDead: (rows) => file.useAsync((outbox) => outbox.dead.retry(rows)),
    dropDead: (rows) => file.useAsync((outbox) => outbox.dead.drop(rows)),
    dropQueued: (rows) => file.useAsync((outbox) => outbox.queued.drop(rows)),
    hold: async (kind, code) => file.use((outbox) => outbox.holds.set(kind, code)),
    recordEmailed: async (rows) => file.use((outbox) => outbox.secondChannel.recordEmailed(rows)),
    keepEmail: async (email) => file.use((outbox) => outbox.secondChannel.keepEmail(email)),
    recordDetourTold: async (told) => file.use((outbox) => outbox.secondChannel.recordTold(told)),
    rememberIssues: async (issues) => file.use((outbox) => outbox.claims.remember(issues)),
    prune: () => file.useAsync((outbox) => outbox.upkeep.prune()),
    async lead() {
      lock ??= tryFileLock(dispatcherLockPath(directory));
      return lock !== null;
    },
    check: async () => file.use((outbox) => outbox.upkeep.check()),
    get movedAside() {
      return file.movedAside;
    },
    async close() {
      file.close();
      lock?.release();
      lock = null;
    },
  };
}

type Reads =
  | (
      | "waitingMessages"
      | "issueClaim"
      | "heldReferences"
      | "stats"
      | "listDead"
      | "listQueued"
      | "begunWithin"
      | "latest"
    )
  | (
      | "deliveredBetween"
      | "holds"
      | "unheard"
      | "unacknowledged"
      | "keptEmail"
      | "detour"
      | "recent"
      | "hourly"
    );

/** What changes nothing. */
function readsOf(file: OutboxFile): Pick<State, Reads> {
  return {
    waitingMessages: async (most) => file.use(({ reads }) => reads.waitingMessages(most)),
    heldReferences: async (kind, references) =>
      file.use(({ reads }) => reads.heldReferences(kind, references)),
    stats: async () => file.use((outbox) => outbox.stats()),
    listDead: async () => file.use((outbox) => outbox.dead.list()),
    listQueued: async (limit) => file.use((outbox) => outbox.queued.list(limit)),
    begunWithin: async (kind, ms) => file.use(({ reads }) => reads.begunWithin(kind, ms)),
    latest: async (fingerprint) => file.use(({ reads }) => reads.latest(fingerprint)),
    deliveredBetween: async (newerThanMs, olderThanMs) =>
      file.use(({ reads }) => reads.deliveredBetween(newerThanMs, olderThanMs)),
    issueClaim: async (fingerprint) => file.use((outbox) => outbox.claims.find(fingerprint)),
    holds: async () => file.use((outbox) => outbox.holds.all()),
    unheard: async (waitedMs) => file.use((outbox) => outbox.secondChannel.unheard(waitedMs)),
    keptEmail: async () => file.use((outbox) => outbox.secondChannel.keptEmail()),
    unacknowledged: async (references) =>
      file.use((outbox) => outbox.secondChannel.unacknowledged(references)),
    detour: async () => file.use((outbox) => outbox.secondChannel.detour()),
    recent: async (limit) => file.use((outbox) => outbox.recent(limit)),
    hourly: async (hours) => file.use((outbox) => outbox.hourly(hours)),
  };
}

function acceptor(commit: SharedCommit, log: Log): State["accept"] {
  const refusals = new RefusalLog(log, "Alerts are refused: the state cannot be written");
  return async (requests, tries) => {
    try {
      const outcomes = commit.accept(requests, tries);
      refusals.accepted();
      return outcomes;
    } catch (error) {
      refusals.refused(error);
      return requests.map(() => ({ refused: "state_unavailable" }));
    }
  };
}

/** The rows that can be read; the others are given up. */
function withoutUnreadable(
  rows: readonly (DueRow | UnreadableRow)[],
  { outbox, log }: { outbox: Outbox; log: Log },
): DueRow[] {
  return rows.filter((row): row is DueRow => {
    if (!("unreadable" in row)) return true;
    log.error("An alert in the state cannot be read", { row: row.unreadable });
    const dead = { status: "dead", code: "alert_unreadable" } as const;
    outbox.write([() => outbox.settle(row.unreadable, dead)], []);
    return false;
  });
}

/**
 * The dedup of the same file, without the outbox.
 *
 * Errors: STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteDedup(
  options: Omit<SqliteStateOptions, "limits" | "comments" | "reserve">,
): Promise<{ dedup: SqliteDedup; close(): void }> {
  const file = openStateFile({ ...options, isChecked: false, mendWaitMs: 0 });
  return { dedup: sqliteDedup(file.db, options.nowMs), close: file.close };
}

import { type SqliteDedup, sqliteDedup } from "../../../dedup/sqlite.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import type { Log } from "../../../platform/log/log.ts";
import { type DueRow, OUTBOX_LIMITS, type OutboxLimits, type State } from "../contract.ts";
import { RefusalLog } from "../refusal-log.ts";
import { dispatcherLockPath, openStateFile } from "./file/open.ts";
import type { UnreadableRow } from "./outbox/due.ts";
import type { Outbox } from "./outbox/outbox.ts";
import { OutboxFile } from "./outbox-file.ts";
import { SharedCommit } from "./shared-commit.ts";

/** Where the state is, its clock, and how much may wait in it. */
export type SqliteStateOptions = {
  directory: string;
  nowMs: () => number;
  limits?: OutboxLimits;
  log: Log;
};

/**
 * The state in `state.db` of a directory, for several processes at once.
 *
 * Shape:     see `State`.
 * Behaviour: a damaged file is mended before anything else happens; one that is found damaged later is closed, and a later
 *            call opens it again, which mends it.
 * Errors:    STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteState(options: SqliteStateOptions): Promise<State> {
  const { directory, log, limits = OUTBOX_LIMITS } = options;
  const file = new OutboxFile({ ...options, limits });
  const commit = new SharedCommit(file);
  let lock: FileLock | null = null;
  return {
    accept: acceptor(commit, log),
    due: async (kind, query) =>
      file.use((outbox) => withoutUnreadable(outbox.due(kind, query), { outbox, log })),
    settle: (row, settlement) => commit.settle(row, settlement),
    stats: async () => file.use((outbox) => outbox.reads.stats()),
    listDead: async () => file.use((outbox) => outbox.dead.list()),
    retryDead: (rows) => file.useAsync((outbox) => outbox.dead.retry(rows)),
    dropDead: (rows) => file.useAsync((outbox) => outbox.dead.drop(rows)),
    deliveredWithin: async (kind, ms) => file.use((outbox) => outbox.reads.deliveredWithin(kind, ms)),
    latest: async (fingerprint) => file.use((outbox) => outbox.reads.latest(fingerprint)),
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

function acceptor(commit: SharedCommit, log: Log): State["accept"] {
  const refusals = new RefusalLog(log, "Alerts are refused: the state cannot be written");
  return async (requests) => {
    try {
      const outcomes = commit.accept(requests);
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
    outbox.write([{ row: row.unreadable, settlement: { status: "dead", code: "alert_unreadable" } }], []);
    return false;
  });
}

/**
 * The dedup of the same file, without the outbox.
 *
 * Errors: STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteDedup(
  options: Omit<SqliteStateOptions, "limits">,
): Promise<{ dedup: SqliteDedup; close(): void }> {
  const file = openStateFile({ ...options, isChecked: false, mendWaitMs: 0 });
  return { dedup: sqliteDedup(file.db, options.nowMs), close: file.close };
}

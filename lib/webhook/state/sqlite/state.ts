import { type SqliteDedup, sqliteDedup } from "../../../dedup/sqlite.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Alert } from "../../alert/alert.ts";
import { type AcceptOutcome, type DueRow, OUTBOX_LIMITS, type OutboxLimits, type State } from "../state.ts";
import { dispatcherLockPath, openStateFile } from "./file/open.ts";
import { OpenOutbox } from "./outbox-file.ts";
import { Settlements } from "./shared-commit.ts";

/** Where the state is, whose clock it has, and how much may wait in it. */
export type SqliteStateOptions = {
  directory: string;
  nowMs: () => number;
  limits?: OutboxLimits;
  log: Log;
};

/**
 * The state in `state.db` of a directory, for several processes at once.
 *
 * Shape:  see `State`. A damaged file is mended before anything else happens; one that turns out to be damaged later
 *         is closed, everything is refused, and the next call opens it again, which mends it.
 * Errors: STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteState(options: SqliteStateOptions): Promise<State> {
  const { directory, log, limits = OUTBOX_LIMITS } = options;
  const file = new OpenOutbox({ ...options, limits });
  let lock: FileLock | null = null;
  let isRefusing = false;
  const settlements = new Settlements(() => {
    try {
      write([]);
    } catch {
      // Told to those who wait for it.
    }
  });
  const write = (requests: readonly (readonly Alert[])[]): AcceptOutcome[] => {
    const riding = settlements.take();
    try {
      const outcomes = file.use((outbox) => outbox.write(riding, requests));
      for (const { resolve } of riding) resolve();
      return outcomes;
    } catch (error) {
      for (const { reject } of riding) reject(error);
      throw error;
    }
  };
  return {
    async accept(requests) {
      try {
        const outcomes = write(requests);
        if (isRefusing) log.info("Alerts are accepted again");
        isRefusing = false;
        return outcomes;
      } catch (error) {
        // Once, not for each of the thousand requests that follow.
        if (!isRefusing) log.error("Alerts are refused: the state cannot be written", { cause: error });
        isRefusing = true;
        return requests.map(() => ({ refused: "state_unavailable" }));
      }
    },
    due: async (kind, query) =>
      file.use((outbox) =>
        outbox.due(kind, query).filter((row): row is DueRow => {
          if (!("unreadable" in row)) return true;
          log.error("An alert in the state cannot be read", { row: row.unreadable });
          outbox.write(
            [{ row: row.unreadable, settlement: { status: "dead", code: "alert_unreadable" } }],
            [],
          );
          return false;
        }),
      ),
    settle: (row, settlement) => settlements.add(row, settlement),
    stats: async () => file.use((outbox) => outbox.watch.stats()),
    listDead: async () => file.use((outbox) => outbox.dead.list()),
    retryDead: (rows) => file.useAsync((outbox) => outbox.dead.retry(rows)),
    dropDead: (rows) => file.useAsync((outbox) => outbox.dead.drop(rows)),
    deliveredWithin: async (kind, ms) => file.use((outbox) => outbox.watch.deliveredWithin(kind, ms)),
    latest: async (fingerprint) => file.use((outbox) => outbox.watch.latest(fingerprint)),
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

/**
 * The dedup of the same file, for a process that needs nothing else of it.
 *
 * Errors: STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteDedup(
  options: Omit<SqliteStateOptions, "limits">,
): Promise<{ dedup: SqliteDedup; close(): void }> {
  const file = openStateFile({ ...options, isChecked: false, mendWaitMs: 0 });
  return { dedup: sqliteDedup(file.db, options.nowMs), close: file.close };
}

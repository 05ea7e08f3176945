import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../../platform/log/log.ts";
import { isDiskFull } from "./errors.ts";

/** What a state keeps for a full disk: rows of so many bytes in its file. */
export type ReserveSize = { rows: number; rowBytes: number };

/** What the service keeps. */
export const RESERVE: ReserveSize = { rows: 32, rowBytes: 2 ** 20 };

/** So many times what is taken has to be free on the disk. */
const MARGIN = 4;
/** By so much the file grows at least, on a tight disk. */
const GROWTH_BYTES = 2 ** 20;
/** So long its log stays: what a large batch of alerts needs. */
const LOG_BYTES = 4 * 2 ** 20;
const PAGE_BYTES = 4_096;
/** What the file keeps for the next flood. */
const KEPT_PAGES = 4_096;
const NO_LIMIT = 4_294_967_294;

/**
 * The space that a state keeps in its file for a full disk.
 *
 * Shape:     `release` makes room after a transaction found the file full, more with each attempt; false when there is
 *            none. `upkeep` is one step: it takes space back when there is room, then returns to the disk what the file
 *            holds for nothing; false when there is nothing more to do.
 * Behaviour: the file grows only by whole rows that are on the disk before their pages are used. So a checkpoint always
 *            finds its place and the log begins again, however full the disk is; and a row that is deleted makes room
 *            that no other file can take.
 * Errors:    those of SQLite but a full disk.
 */
export type Reserve = ReturnType<typeof reserveOf>;

/** The reserve of the database in the directory's `state.db`. */
export function reserveOf(
  db: DatabaseSync,
  { directory, size, log }: { directory: string; size: ReserveSize; log: Log },
) {
  const counting = (query: string) => {
    const statement = db.prepare(query);
    return () => Number(Object.values(statement.get() ?? {})[0]);
  };
  const rows = counting("select count(*) from reserve");
  const freePages = counting("pragma freelist_count");
  const allPages = counting("pragma page_count");
  const checkpoint = () => isDone(() => db.prepare("pragma wal_checkpoint(passive)").get());
  // So many pages in one step. Read to its end: each row is a page that was moved.
  const shrink = () => isDone(() => db.prepare("pragma incremental_vacuum(256)").all());
  const last = "select id from reserve order by id desc limit ?";
  const removal = db.prepare(`delete from reserve where id in (${last})`);
  const remove = (count: number) => isDone(() => removal.run(count));
  const hasRoom = (bytes: number) => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= MARGIN * bytes;
  };
  const logBytes = () => statSync(join(directory, "state.db-wal"), { throwIfNoEntry: false })?.size ?? 0;
  const limitGrowth = () => db.exec(`pragma max_page_count = ${allPages()}`);
  const insert = db.prepare("insert into reserve (filling) values (zeroblob(?))");
  const add = (bytes: number): boolean => {
    db.exec(`pragma max_page_count = ${NO_LIMIT}`);
    try {
      return isDone(() => insert.run(bytes)) && checkpoint();
    } finally {
      limitGrowth();
    }
  };
  /** More free pages in the file; the row takes those that there are, too. */
  const grow = (bytes: number) => hasRoom(bytes) && add(freePages() * PAGE_BYTES + bytes) && remove(1);
  const bytes = () => rows() * size.rowBytes;
  limitGrowth();
  return {
    bytes,
    release(attempt: number): boolean {
      const times = 2 ** Math.max(0, attempt - 1);
      if (grow(LOG_BYTES * times) || grow(GROWTH_BYTES * times)) return true;
      // Perhaps the log was at its end, not the file: it begins again.
      if (checkpoint() && attempt === 0) return true;
      if (rows() === 0 || !remove(times)) return false;
      log.warn("The disk is full: alerts are kept in the state's reserve", { reserveBytes: bytes() });
      return true;
    },
    upkeep(): boolean {
      if (logBytes() < LOG_BYTES) grow(LOG_BYTES);
      const missing = size.rows - rows();
      if (missing > 0) {
        if (!hasRoom(bytes() + size.rowBytes) || !add(size.rowBytes)) return false;
        if (missing === 1) log.info("The state's reserve is whole", { reserveBytes: bytes() });
        return true;
      }
      const free = freePages();
      if (free <= KEPT_PAGES || !shrink()) return false;
      limitGrowth();
      return freePages() < free;
    },
  };
}

/** False when the disk was too full for it. */
function isDone(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return false;
  }
}

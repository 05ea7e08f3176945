import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../../platform/log/log.ts";
import { isDiskFull } from "./errors.ts";

/** What a state keeps for a full disk: rows of so many bytes in its file. */
export type ReserveSize = { rows: number; rowBytes: number };

/** What the service keeps. */
export const RESERVE: ReserveSize = { rows: 32, rowBytes: 2 ** 20 };

/** So many times what is taken has to be free on the disk. */
const MARGIN = 4;
/** By so much the file grows at once, and so long its log stays. */
const GROWTH_BYTES = 4 * 2 ** 20;
/** By so much, and more with each attempt, when the disk is nearly full and no row is left. */
const LEAST_GROWTH_BYTES = 2 ** 16;
const PAGE_BYTES = 4_096;
/** What a small batch of alerts needs: with fewer free pages the file grows before the next transaction. */
const LOW_PAGES = 64;
/** What the file keeps for the next flood. */
const KEPT_PAGES = 4_096;
/** Pages given back in one step. */
const STEP_PAGES = 256;
const NO_LIMIT = 4_294_967_294;
/** Twice as many rows are given up in each attempt: all of them in so many. */
const MOST_ATTEMPTS = 8;

/**
 * The space that a state keeps in its file for a full disk.
 *
 * Shape:     `prepare` is called before a transaction. `release` makes room after one found the disk full, more with each
 *            attempt; false when there is none. `upkeep` takes space back when there is room, then returns to the disk
 *            what the file holds for nothing; other work may run between its steps.
 * Behaviour: the file grows only by whole rows that are on the disk before their pages are used. So a checkpoint always
 *            finds its place and the log begins again, however full the disk is; and a row that is deleted makes room
 *            that no other file can take.
 * Errors:    those of SQLite but a full disk.
 */
export type Reserve = ReturnType<typeof reserveOf>;

/** The reserve of the database in `path`. */
export function reserveOf(
  db: DatabaseSync,
  { path, size, log }: { path: string; size: ReserveSize; log: Log },
) {
  let said: string | null = null;
  const counting = (query: string) => {
    const statement = db.prepare(query);
    return () => Number(Object.values(statement.get() ?? {})[0]);
  };
  const rows = counting("select count(*) from reserve");
  const freePages = counting("pragma freelist_count");
  const allPages = counting("pragma page_count");
  const limitGrowth = () => db.exec(`pragma max_page_count = ${allPages()}`);
  const checkpoint = () => isDone(() => db.prepare("pragma wal_checkpoint(passive)").get());
  // Read to its end: each row is a page that was moved.
  const shrink = (pages: number) => isDone(() => db.prepare(`pragma incremental_vacuum(${pages})`).all());
  const last = "select id from reserve order by id desc limit ?";
  const removal = db.prepare(`delete from reserve where id in (${last})`);
  const remove = (count: number) => isDone(() => removal.run(count));
  const hasRoom = (bytes: number) => {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize >= MARGIN * bytes;
  };
  const insert = db.prepare("insert into reserve (filling) values (zeroblob(?))");
  const add = (bytes: number): boolean => {
    db.exec(`pragma max_page_count = ${NO_LIMIT}`);
    try {
      if (!isDone(() => insert.run(bytes))) return false;
      if (checkpoint()) return true;
      // Its last pages are not on the disk.
      if (remove(1)) shrink(bytes / 1_024);
      return false;
    } finally {
      limitGrowth();
    }
  };
  /** More free pages in the file; the row takes those that there are, too. */
  const grow = (bytes: number) => hasRoom(bytes) && add(freePages() * PAGE_BYTES + bytes) && remove(1);
  /** Logs something once until something else is to be said. */
  const say = (level: "info" | "warn" | "error", what: string) => {
    if (said !== what) log[level](what, { reserveBytes: rows() * size.rowBytes });
    said = what;
  };
  limitGrowth();
  return {
    isDiskShort: (): boolean => !hasRoom(GROWTH_BYTES),
    prepare(): void {
      if (freePages() < LOW_PAGES) grow(GROWTH_BYTES);
    },
    release(attempt: number): boolean {
      checkpoint();
      if (attempt >= MOST_ATTEMPTS) return false;
      // The log was at its end, not the file: it begins again.
      if (attempt === 0 && freePages() >= LOW_PAGES) return true;
      if (grow(GROWTH_BYTES * MARGIN ** Math.min(attempt, 2))) return true;
      if (rows() > 0 && remove(2 ** attempt)) {
        say("warn", USED);
        return true;
      }
      if (grow(LEAST_GROWTH_BYTES * 2 ** attempt)) return true;
      say("error", USED_UP);
      return false;
    },
    *upkeep(): Generator<void> {
      if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) < GROWTH_BYTES) grow(GROWTH_BYTES);
      for (yield; rows() < size.rows && hasRoom((rows() + 1) * size.rowBytes); yield)
        if (!add(size.rowBytes)) break;
      if (rows() < size.rows) return;
      if (said !== null) say("info", WHOLE);
      for (let free = freePages(), before = free + 1; free > KEPT_PAGES && free < before; yield) {
        before = free;
        shrink(STEP_PAGES);
        limitGrowth();
        free = freePages();
      }
    },
  };
}

const USED = "The disk is full: alerts are kept in the state's reserve";
const USED_UP = "The state's reserve is used up: nothing more can be kept until the disk has room";
const WHOLE = "The state's reserve is whole again";

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

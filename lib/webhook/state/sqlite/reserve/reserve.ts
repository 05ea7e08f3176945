import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../../../platform/log/log.ts";
import { isDiskFull } from "../file/open-sqlite.ts";
import { type FileGrowth, fileGrowth } from "./file-growth.ts";
import { freeBytes } from "./free-bytes.ts";
import { lengthenLog } from "./log-length.ts";
import { type ReserveRows, reserveRows } from "./reserve-rows.ts";
import type { ReserveSize } from "./reserve-size.ts";
import { keepSpareFile, SPARE_BYTES } from "./spare-file.ts";

/** Makes room for writes on a full disk. */
export type RoomMaker = {
  /** Looks how full the disk is, before a write. */
  prepare(): void;
  /** Makes room after a write found none, more with each attempt; false when there is no more to be had. */
  make(attempt: number): boolean;
};

/** The reserve takes at most this share of what the disk has free. */
const SHARE = 4;
/** The log is made longer by so much at once, and rows are added one by one: meanwhile the service cannot accept. */
const LOG_STEP_BYTES = 2 ** 20;
/** The shortest pause after a step; after a longer step, as long as it took. Alerts that came meanwhile go first. */
const PAUSE_MS = 20;
/** The reserve is halved, then halved again, …: all of it is free after this many attempts of one write. */
const MOST_ATTEMPTS = 8;

/**
 * The space that a state keeps in its file for a full disk.
 *
 * Behaviour: rows of the file that are removed one after the other when a write finds the disk full: the pages that
 *            they had are the file's own, no other file can take them. While the disk has less left than half the
 *            reserve, or this account may not use it, the file does not grow, so that each checkpoint finds its place
 *            and the log begins anew. `refill` takes the space back when there is room, in steps between which other
 *            work runs.
 * Errors:    those of SQLite.
 */
export class Reserve implements RoomMaker {
  readonly #path: string;
  readonly #directory: string;
  readonly #db: DatabaseSync;
  readonly #size: ReserveSize;
  readonly #log: Log;
  readonly #rows: ReserveRows;
  readonly #growth: FileGrowth;
  /** How many rows there are when none is used. */
  #whole: number;
  #isTight = false;
  /** The disk took nothing although it had room: this account's quota is used up. */
  #isRefused = false;
  #said: "whole" | "used" | "used up" | "small" | null = null;

  constructor(db: DatabaseSync, options: { path: string; size: ReserveSize; log: Log }) {
    this.#db = db;
    this.#path = options.path;
    this.#directory = dirname(options.path);
    this.#size = options.size;
    this.#log = options.log;
    this.#rows = reserveRows(db);
    this.#growth = fileGrowth(db, options.path);
    this.#whole = this.#rows.count();
  }

  /** Whether the disk has so little left that the file does not grow. */
  get isTight(): boolean {
    return this.#isTight;
  }

  prepare(): void {
    const mark = this.#mark;
    if (mark === 0) return;
    const free = freeBytes(this.#directory);
    if (free === null) return;
    if (!this.#isTight && (free < mark || this.#findsRefusal())) this.#stopGrowth();
    if (this.#isTight && !this.#isRefused && free >= 2 * mark) this.#allowGrowth();
  }

  make(attempt: number): boolean {
    if (attempt >= MOST_ATTEMPTS) return false;
    try {
      const rows = this.#rows.count();
      if (rows === 0) return this.#isTight && this.#grow();
      if (!this.#isTight) {
        this.#isRefused = (freeBytes(this.#directory) ?? 0) >= this.#mark;
        this.#stopGrowth();
      }
      this.#release(2 ** attempt);
      return true;
    } catch (error) {
      if (isDiskFull(error)) return false;
      throw error;
    }
  }

  /** Where the file cannot grow, its log does: to be noticed while that has place for what stopping takes. */
  #findsRefusal(): boolean {
    if (this.#growth.usedLogBytes() <= this.#logBytes() / 2) return false;
    this.#isRefused = !this.#growth.checkpoint();
    return this.#isRefused;
  }

  async refill(): Promise<void> {
    if (this.#isRefused) this.#isRefused = !this.#hasRoomFor(() => this.#grow());
    this.prepare();
    await this.#inSteps(() => this.#lengthenLog());
    if (!this.#isTight) this.#keepSpareFile();
    await this.#inSteps(() => this.#addRow());
    if (this.#db.isOpen && !this.#isTight) this.#sayRefilled(this.#rows.count());
  }

  /** With less than this left on the disk, the file does not grow. */
  get #mark(): number {
    return (this.#whole * this.#size.rowBytes) / 2;
  }

  /** Repeats a step until it returns false, finds no room, or the disk is short; other work runs in between. */
  async #inSteps(step: () => boolean): Promise<void> {
    while (this.#db.isOpen && !this.#isTight) {
      const startedMs = performance.now();
      if (!this.#hasRoomFor(step)) return;
      const tookMs = performance.now() - startedMs;
      await new Promise((resolve) => setTimeout(resolve, Math.max(PAUSE_MS, tookMs)));
    }
  }

  /** What a disk has free is not always free for this account: its quota may be used up. */
  #hasRoomFor(step: () => boolean): boolean {
    try {
      return step();
    } catch (error) {
      if (isDiskFull(error)) return false;
      throw error;
    }
  }

  #addRow(): boolean {
    const rows = this.#rows.count();
    this.#whole = Math.max(this.#whole, rows);
    if (this.#mostRows(rows) <= rows) return false;
    this.#rows.add(1, this.#size.rowBytes);
    this.#growth.checkpoint();
    return true;
  }

  /** The smaller the disk, the smaller the reserve. */
  #mostRows(rows: number): number {
    const { rowBytes } = this.#size;
    const free = freeBytes(this.#directory) ?? 0;
    return Math.min(this.#size.rows, Math.floor((free + rows * rowBytes) / SHARE / rowBytes));
  }

  #lengthenLog(): boolean {
    const free = freeBytes(this.#directory) ?? 0;
    const bytes = this.#logBytes();
    const most = Math.min(this.#size.logBytes, Math.floor((free + bytes) / SHARE));
    if (bytes >= most) return false;
    lengthenLog(this.#db, this.#path, Math.min(most, bytes + LOG_STEP_BYTES));
    return true;
  }

  #keepSpareFile(): void {
    if ((freeBytes(this.#directory) ?? 0) > SHARE * SPARE_BYTES) keepSpareFile(this.#path);
  }

  #logBytes(): number {
    return statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** What the log has beyond the end of the file would stop it from beginning anew: it moves to the reserve's pages. */
  #stopGrowth(): void {
    this.#isTight = true;
    // The rest is for what has to be moved.
    this.#growth.checkpointEach(this.#logBytes() / SHARE);
    this.#growth.checkpoint();
    try {
      const missing = this.#growth.missingBytes();
      if (missing === 0) return;
      this.#release(Math.ceil(missing / this.#size.rowBytes) + 1);
      this.#growth.shrink(missing);
      this.#growth.checkpoint();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    } finally {
      this.#growth.stop();
    }
  }

  #allowGrowth(): void {
    this.#growth.allow();
    this.#isTight = false;
  }

  #release(rows: number): void {
    this.#rows.remove(rows);
    const reserveBytes = this.#rows.count() * this.#size.rowBytes;
    if (this.#say("used"))
      this.#log.warn("The disk is full: alerts are kept in the state's reserve", { reserveBytes });
  }

  /** Takes what the disk still has; true when the file has it for certain. */
  #grow(): boolean {
    const { rowBytes } = this.#size;
    const isGrown = (freeBytes(this.#directory) ?? 0) >= 2 * rowBytes && this.#addCertainly(rowBytes);
    if (!isGrown && this.#say("used up"))
      this.#log.error("The state's reserve is used up: nothing more can be kept until the disk has room");
    return isGrown;
  }

  #addCertainly(bytes: number): boolean {
    this.#growth.allow();
    try {
      this.#rows.add(1, bytes);
      this.#growth.checkpoint();
      const missing = this.#growth.missingBytes();
      this.#rows.remove(1);
      if (missing === 0) return true;
      this.#growth.shrink(missing);
      this.#growth.checkpoint();
      return false;
    } finally {
      this.#growth.stop();
    }
  }

  #sayRefilled(rows: number): void {
    const reserveBytes = rows * this.#size.rowBytes;
    if (rows < this.#whole || rows < Math.min(1, this.#size.rows)) {
      if (this.#said === null && this.#say("small"))
        this.#log.warn("The disk has too little room for the state's reserve", { reserveBytes });
      return;
    }
    const wasUsed = this.#said === "used" || this.#said === "used up";
    if (this.#say("whole") && wasUsed) this.#log.info("The state's reserve is whole again", { reserveBytes });
  }

  /** Whether this is something new to say. */
  #say(what: "whole" | "used" | "used up" | "small"): boolean {
    const isNew = this.#said !== what && !(what === "used" && this.#said === "used up");
    if (isNew) this.#said = what;
    return isNew;
  }
}

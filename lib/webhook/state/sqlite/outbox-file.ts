import { join } from "node:path";
import { OpsError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { OutboxLimits } from "../contract.ts";
import { type FileWatch, putBack, watchFile } from "./file/file-watch.ts";
import { emptyLog } from "./file/log-keeper.ts";
import { makeShrinkable } from "./file/make-shrinkable.ts";
import { openStateFile, type StateFile } from "./file/open.ts";
import { isDamaged, isDiskTrouble } from "./file/open-sqlite.ts";
import { type Outbox, outboxOn } from "./outbox/outbox.ts";
import { Reserve } from "./reserve/reserve.ts";
import type { ReserveSize } from "./reserve/reserve-size.ts";

const MEND_AT_START_MS = 2_000;
const OPEN_AGAIN_MS = 5_000;
/** To open a large file that has to be upgraded takes a while: all of that is in vain while the disk is full. */
const MOST_OPENING_SHARE = 10;

type Options = {
  directory: string;
  nowMs: () => number;
  limits: OutboxLimits;
  comments: boolean;
  /** What is kept for a full disk; null: nothing. */
  reserve: ReserveSize | null;
  log: Log;
};

type Opened = { file: StateFile; outbox: Outbox; watch: FileWatch; watchLog: FileWatch };

/**
 * The outbox in its file.
 *
 * Behaviour: opened at once, and again after the file was found damaged, removed or replaced: what is accepted into a
 *            removed file is lost when this process ends. Where a reserve is kept, a full disk or one that fails does
 *            not end the service at its start: the file is opened by a later call.
 * Errors:    STATE_UNAVAILABLE when it cannot be opened; `use` throws what its work throws, and STATE_UNAVAILABLE while
 *            the file cannot be opened or mended.
 */
export class OutboxFile {
  readonly #options: Options;
  #opened: Opened | null;
  #movedAside: string | null = null;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #waitMs = OPEN_AGAIN_MS;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#opened = this.#openAtStart();
  }

  get movedAside(): string | null {
    return this.#movedAside;
  }

  use<T>(work: (outbox: Outbox) => T): T {
    const outbox = this.#current();
    try {
      return work(outbox);
    } catch (error) {
      this.#dropIfDamaged(error, outbox);
      throw error;
    }
  }

  async useAsync<T>(work: (outbox: Outbox) => Promise<T>): Promise<T> {
    const outbox = this.#current();
    try {
      return await work(outbox);
    } catch (error) {
      this.#dropIfDamaged(error, outbox);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #current(): Outbox {
    if (this.#opened !== null) this.#checkFile(this.#opened);
    return this.#opened?.outbox ?? this.#openAgain();
  }

  #checkFile(opened: Opened): void {
    const { db } = opened.file;
    const found = opened.watch();
    if (found === "kept") {
      this.#checkLog(opened);
      return;
    }
    const problem = "The state file was taken away while it was in use: it is put back, or opened anew";
    this.#options.log.error(problem, { found });
    try {
      if (found === "missing") putBack(db, this.#path);
    } catch (error) {
      if (!isDamaged(error)) throw error;
    }
    this.#drop();
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Another process would begin a log of its own: what this one has must be in the file before. */
  #checkLog({ file, watchLog }: Opened): void {
    if (watchLog() === "kept" || !emptyLog(file.db)) return;
    this.#options.log.error(
      "The log of the state file was taken away while it was in use: nothing in it is lost",
    );
    this.#drop();
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  get #path(): string {
    return join(this.#options.directory, "state.db");
  }

  #openAtStart(): Opened | null {
    const { reserve, log } = this.#options;
    try {
      return this.#open(MEND_AT_START_MS);
    } catch (error) {
      const cause = error instanceof OpsError ? error.cause : error;
      if (reserve === null || !isDiskTrouble(cause)) throw error;
      const hint = "Alerts are sent from memory until it can be: make room on its disk, or mend it";
      log.error("The state cannot be opened at the start", { cause: error, hint });
      return null;
    }
  }

  #open(mendWaitMs: number): Opened {
    const startedMs = performance.now();
    this.#triedAtMs = this.#options.nowMs();
    try {
      const file = openStateFile({ ...this.#options, isChecked: true, mendWaitMs });
      this.#movedAside = file.movedAside ?? this.#movedAside;
      return this.#prepared(file);
    } finally {
      this.#waitMs = Math.max(OPEN_AGAIN_MS, MOST_OPENING_SHARE * (performance.now() - startedMs));
    }
  }

  #prepared(file: StateFile): Opened {
    const { reserve: size, log } = this.#options;
    try {
      if (size !== null) makeShrinkable(file.db, this.#path);
      const reserve = size && new Reserve(file.db, { path: this.#path, size, log });
      const outbox = outboxOn(file.db, { ...this.#options, reserve });
      return { file, outbox, watch: watchFile(this.#path), watchLog: watchFile(`${this.#path}-wal`) };
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #openAgain(): Outbox {
    const sinceMs = Math.abs(this.#options.nowMs() - this.#triedAtMs);
    if (this.#isClosed || sinceMs < this.#waitMs)
      throw new OpsError({
        code: "STATE_UNAVAILABLE",
        message: this.#isClosed ? "The state is closed" : "The state could not be opened yet",
      });
    this.#opened = this.#open(0);
    this.#options.log.info("The state is open again");
    return this.#opened.outbox;
  }

  #dropIfDamaged(error: unknown, outbox: Outbox): void {
    // The error may be of a file that was closed meanwhile.
    if (!isDamaged(error) || outbox !== this.#opened?.outbox) return;
    this.#options.log.error("The state file is damaged: it will be mended before it is used again");
    this.#drop();
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  #drop(): void {
    this.#opened?.file.close();
    this.#opened = null;
  }
}

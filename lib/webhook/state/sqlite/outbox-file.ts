import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { OpsError } from "../../../platform/errors.ts";
import { isDamaged } from "../../../platform/files/sqlite.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { OutboxLimits } from "../contract.ts";
import { type FileWatch, putBack, watchFile } from "./file/file-watch.ts";
import { emptyLog } from "./file/log-keeper.ts";
import { makeShrinkable } from "./file/make-shrinkable.ts";
import { openStateFile, type StateFile } from "./file/open.ts";
import { type Outbox, outboxOn } from "./outbox/outbox.ts";
import { Reserve } from "./reserve/reserve.ts";
import type { ReserveSize } from "./reserve/reserve-size.ts";

const MEND_AT_START_MS = 2_000;
const MEND_AGAIN_MS = 5_000;

type Options = {
  directory: string;
  nowMs: () => number;
  limits: OutboxLimits;
  comments: boolean;
  /** What is kept for a full disk; null: nothing. */
  reserve: ReserveSize | null;
  log: Log;
};

/**
 * The outbox in its file.
 *
 * Behaviour: opened at once, and again after the file was found damaged, removed or replaced: what is accepted into a
 *            removed file is lost when this process ends.
 * Errors:    `use` throws what its work throws, and STATE_UNAVAILABLE while a damaged file cannot be mended.
 */
export class OutboxFile {
  readonly #options: Options;
  #file: StateFile | null;
  #outbox: Outbox | null;
  #watch: FileWatch;
  #watchLog: FileWatch;
  #movedAside: string | null = null;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    [this.#file, this.#outbox, this.#watch, this.#watchLog] = this.#open(MEND_AT_START_MS);
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
    if (this.#file !== null) this.#checkFile(this.#file);
    return this.#outbox ?? this.#openAgain();
  }

  #checkFile({ db }: StateFile): void {
    const found = this.#watch();
    if (found === "kept") {
      this.#checkLog(db);
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
  #checkLog(db: DatabaseSync): void {
    if (this.#watchLog() === "kept" || !emptyLog(db)) return;
    this.#options.log.error(
      "The log of the state file was taken away while it was in use: nothing in it is lost",
    );
    this.#drop();
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  get #path(): string {
    return join(this.#options.directory, "state.db");
  }

  #open(mendWaitMs: number): [StateFile, Outbox, FileWatch, FileWatch] {
    const { nowMs, reserve: size, log } = this.#options;
    this.#triedAtMs = nowMs();
    const file = openStateFile({ ...this.#options, isChecked: true, mendWaitMs });
    this.#movedAside = file.movedAside ?? this.#movedAside;
    try {
      if (size !== null) makeShrinkable(file.db, this.#path);
      const reserve = size && new Reserve(file.db, { path: this.#path, size, log });
      return [
        file,
        outboxOn(file.db, { ...this.#options, reserve }),
        watchFile(this.#path),
        watchFile(`${this.#path}-wal`),
      ];
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #openAgain(): Outbox {
    const sinceMs = Math.abs(this.#options.nowMs() - this.#triedAtMs);
    if (this.#isClosed || sinceMs < MEND_AGAIN_MS)
      throw new OpsError({
        code: "STATE_UNAVAILABLE",
        message: this.#isClosed ? "The state is closed" : "The state is damaged and could not be mended yet",
      });
    const [file, outbox, watch, watchLog] = this.#open(0);
    this.#file = file;
    this.#outbox = outbox;
    this.#watch = watch;
    this.#watchLog = watchLog;
    return outbox;
  }

  #dropIfDamaged(error: unknown, outbox: Outbox): void {
    // The error may be of a file that was closed meanwhile.
    if (!isDamaged(error) || outbox !== this.#outbox) return;
    this.#options.log.error("The state file is damaged: it will be mended before it is used again");
    this.#drop();
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  #drop(): void {
    this.#file?.close();
    this.#file = null;
    this.#outbox = null;
  }
}

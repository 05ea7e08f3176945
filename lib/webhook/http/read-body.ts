import { withTimeout } from "../../platform/timeout.ts";
import type { RefusalCode } from "./answers.ts";

/** The largest body that is accepted: some 8,000 alerts. */
const MAX_BODY_BYTES = 8_388_608;
/** A body up to this size reserves no memory: a small alert does not wait behind large ones. */
const SMALL_BYTES = 65_536;
/** How much all larger bodies may use together, each until its answer. */
const MEMORY_BYTES = 25_165_824;
/** How long a body may wait for memory; senders wait for half a minute. */
const WAIT_MS = 15_000;
/** How long a sender may take for its body; the platform gives up after the same time. */
const LIMIT_MS = 30_000;
const JSON_TYPE = /^\s*(?:application\/(?:[\w!#$&^.+-]+\+)?json\s*)?(?:;|$)/i;

/** Takes memory for so many bytes; false if there was not enough in time. */
export type TakeMemory = (bytes: number) => Promise<boolean>;

/** A semaphore over the memory that bodies use; what does not fit waits, in order of arrival. */
export class BodyMemory {
  #free = MEMORY_BYTES;
  #waiting: { bytes: number; admit: (isTaken: true) => void }[] = [];

  /** Runs work that may take memory once, which is given back when the work has ended. */
  async use<T>(work: (take: TakeMemory) => Promise<T>): Promise<T> {
    let giveBack = () => {};
    const take = (bytes: number) => {
      const isTaken = this.#take(bytes);
      // The work may end before what it asked for comes.
      giveBack = () => void isTaken.then((is) => this.#give(is ? bytes : 0));
      return isTaken;
    };
    return await work(take).finally(() => giveBack());
  }

  async #take(bytes: number): Promise<boolean> {
    const { promise, resolve: admit } = Promise.withResolvers<true>();
    const waiter = { bytes, admit };
    this.#waiting.push(waiter);
    this.#give(0);
    const late = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiter);
      this.#give(0);
      return false;
    };
    return await withTimeout({ limitMs: WAIT_MS }, () => promise, late);
  }

  #give(bytes: number): void {
    this.#free += bytes;
    while (this.#waiting[0] !== undefined && this.#waiting[0].bytes <= this.#free) {
      const next = this.#waiting.shift()!;
      this.#free -= next.bytes;
      next.admit(true);
    }
  }
}

/**
 * Reads a request's body as JSON; `problem` says why there is none.
 *
 * Behaviour: a missing content type counts as JSON, and so does `application/*+json`; the text is UTF-8 whatever the
 *            header says, with or without a byte order mark. A compressed body is refused: it may unpack to any size.
 *            Never keeps more than the limit, and more than 64 KiB only after `take`, which gets the largest size for a
 *            body without a length.
 * Errors:    a body that is too deep for the runtime's parser, or that breaks off, is `invalid_json`.
 */
export async function readBody(
  { headers, body }: Request,
  take: TakeMemory,
): Promise<{ value: unknown } | { problem: RefusalCode }> {
  const isJson = JSON_TYPE.test(headers.get("content-type") ?? "");
  const isPlain = /^(?:identity)?$/i.test(headers.get("content-encoding") ?? "");
  if (!isJson || !isPlain) return { problem: "unsupported_media_type" };
  const length = Number(headers.get("content-length"));
  if (length > MAX_BODY_BYTES) return { problem: "payload_too_large" };
  const reader = body?.getReader();
  const reading = () => readAll(reader, () => take(length || MAX_BODY_BYTES));
  try {
    const read = await withTimeout({ limitMs: LIMIT_MS }, reading, () => "timeout" as const);
    if (typeof read === "string") return { problem: read };
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(read)) };
  } catch {
    return { problem: "invalid_json" };
  } finally {
    // Not awaited: on a stalled body it ends only when the connection does.
    reader?.cancel().catch(() => {});
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  takeMemory: () => Promise<boolean>,
): Promise<Uint8Array | RefusalCode> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isTaken = false;
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    bytes += next.value.byteLength;
    if (bytes > MAX_BODY_BYTES) return "payload_too_large";
    chunks.push(next.value);
    if (isTaken || bytes <= SMALL_BYTES) continue;
    isTaken = await takeMemory();
    if (!isTaken) return "overloaded";
  }
  // Most bodies come in one piece, which needs no copy.
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
}

import { Buffer } from "node:buffer";

/** What a listing of `ss` has held so far; `others` are rows of states that were not asked for. */
export type ListingCounts = { closeWait: number; synRecv: number; others: number };

/**
 * Counts the rows of `ss -Hnt` by their state, piece by piece as they arrive.
 *
 * Behaviour: `add` takes bytes, `end` returns the counts; only the beginning of an unfinished row is kept. A heading is
 *            skipped.
 * Errors:    both throw when a row does not begin with a state and the two queues: then the counts mean nothing.
 */
export type ListingCounter = { add(bytes: Uint8Array): void; end(): ListingCounts };

const LINE_FEED = 0x0a;
/** A row is an address, a port and a zone twice; a much longer line is no row. */
const MAX_ROW_BYTES = 4_096;
/** Enough of a row for its state and its two queues. */
const HEAD_BYTES = 48;
const ROW = /^([A-Z][A-Z0-9-]*) +\d+ +\d+ +\S/;
const HEADING = /^State +Recv-Q +Send-Q/;

/**
 * A counter for one listing.
 *
 * Source: iproute2 misc/ss.c: with more than one state the State column stays, and CLOSE-WAIT has a hyphen.
 */
export function listingCounter(): ListingCounter {
  const counts: ListingCounts = { closeWait: 0, synRecv: 0, others: 0 };
  let rest = Buffer.alloc(0);
  let rows = 0;

  function count(bytes: Buffer, start: number, end: number): void {
    rows += 1;
    const head = bytes.toString("latin1", start, Math.min(end, start + HEAD_BYTES));
    const state = ROW.exec(head)?.[1];
    if (state === "CLOSE-WAIT") counts.closeWait += 1;
    else if (state === "SYN-RECV") counts.synRecv += 1;
    else if (state !== undefined) counts.others += 1;
    else if (rows > 1 || !HEADING.test(head))
      throw new Error("Cannot list the sockets: a row of the listing has no state");
  }

  return {
    add(piece) {
      const bytes =
        rest.length === 0
          ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
          : Buffer.concat([rest, piece]);
      let start = 0;
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
        count(bytes, start, end);
        start = end + 1;
      }
      // A copy, so that the piece itself can be freed.
      rest = Buffer.from(bytes.subarray(start));
      if (rest.length > MAX_ROW_BYTES)
        throw new Error("Cannot list the sockets: a row of the listing has no end");
    },
    end() {
      if (rest.length > 0) throw new Error("Cannot list the sockets: the last row of the listing is cut off");
      return counts;
    },
  };
}

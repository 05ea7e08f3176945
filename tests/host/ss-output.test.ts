import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listingCounter } from "../../lib/host/ss-output.ts";

const ROWS = {
  "CLOSE-WAIT": "CLOSE-WAIT 1      0          127.0.0.1:41234    127.0.0.1:50000 ",
  "SYN-RECV": "SYN-RECV   0      0              [::1]:80            [::1]:50001",
  "FIN-WAIT-2": "FIN-WAIT-2 0      0      [fe80::1%eth0]:80   [fe80::2]:50001",
};

describe("listingCounter()", () => {
  test("counts the same however the bytes are cut into pieces", () => {
    const row = fc.constantFrom(...(Object.keys(ROWS) as (keyof typeof ROWS)[]));
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 90 })),
        (states, cuts) => {
          const bytes = new TextEncoder().encode(states.map((state) => `${ROWS[state]}\n`).join(""));
          const counter = listingCounter();
          let at = 0;
          for (const cut of cuts) {
            counter.add(bytes.subarray(at, at + cut));
            at += cut;
          }
          counter.add(bytes.subarray(at));
          const of = (wanted: string) => states.filter((state) => state === wanted).length;
          expect(counter.end()).toEqual({
            closeWait: of("CLOSE-WAIT"),
            synRecv: of("SYN-RECV"),
            others: of("FIN-WAIT-2"),
          });
        },
      ),
    );
  });

  test("needs no more memory for a million rows than for a few", () => {
    const counter = listingCounter();
    const piece = new TextEncoder().encode(`${ROWS["CLOSE-WAIT"]}\n`.repeat(1_000));
    const kept = () => {
      Bun.gc(true);
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    counter.add(piece);
    const before = kept();
    // A new copy each time, as from a pipe: memory that the counter kept would show.
    for (let n = 0; n < 1_000; n += 1) counter.add(piece.slice());
    const after = kept();
    expect(counter.end().closeWait).toBe(1_001_000);
    // All the rows are 70 MB.
    expect(after - before).toBeLessThan(10_000_000);
  });

  test.each([
    "close-wait 1 0 a b",
    "CLOSE-WAIT",
    "CLOSE_WAIT 1 0 a b",
    "",
    "State Recv",
    "127.0.0.1:1 127.0.0.1:2",
  ])("refuses the row %p", (row) => {
    const counter = listingCounter();
    expect(() => counter.add(new TextEncoder().encode(`${row}\n`))).toThrow("no state");
  });
});

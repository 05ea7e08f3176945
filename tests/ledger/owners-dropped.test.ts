import { describe, expect, test } from "bun:test";
import { ownersBeforeText, ownersDropped } from "../../lib/ledger/owners-dropped.ts";

const week = (owners: number, completed: number, before: number | null) => ({
  owners,
  reports: { completed, running: 0, failed: 0, missing: 0 },
  before: before === null ? null : { week: "2026-11-09", owners: before },
});

describe("ownersDropped()", () => {
  test.each([
    [0, 0, null, false],
    [0, 0, 1, true],
    [0, 0, 412, true],
    // Sent before the application renamed something.
    [0, 412, 412, false],
    [0, 205, 412, true],
    [1, 0, 10, false],
    [1, 0, 11, true],
    [9, 9, 19, true],
    [10, 10, 19, false],
    [10, 10, 20, false],
    [10, 10, 21, true],
    [206, 206, 412, false],
    [205, 0, 412, true],
    [413, 413, 412, false],
  ])("of %p owners and %p reports after %p: %p", (owners, completed, before, dropped) => {
    const counts = week(owners, completed, before);
    expect(ownersDropped(counts)).toEqual(dropped ? counts.before : null);
    expect(ownersBeforeText(counts)).toBe(dropped ? `; ${before} in the week of 2026-11-09` : "");
  });
});

/** The dedup on a file of SQLite: one claim of a key for its time, whoever asks. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { type Claim, SQLITE_DEDUP_TABLE, type SqliteDedup, sqliteDedup } from "../../lib/dedup/sqlite.ts";

/** Within a second, because boundaries are exact to the millisecond. */
const START_MS = Date.UTC(2026, 10, 16, 14, 0, 0, 250);
const TTL_MS = 30 * 60_000;

let folder: string;
let clockMs: number;
const databases: DatabaseSync[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-dedup-"));
  clockMs = START_MS;
});
afterEach(() => {
  closeAll();
  rmSync(folder, { recursive: true });
});

function open(): DatabaseSync {
  const db = new DatabaseSync(join(folder, "dedup.db"), { timeout: 2_000 });
  databases.push(db);
  db.exec(`pragma journal_mode = wal; pragma synchronous = off; ${SQLITE_DEDUP_TABLE}`);
  return db;
}

function closeAll(): void {
  for (const db of databases.splice(0)) db.close();
}

const openDedup = (db = open()) => sqliteDedup(db, () => clockMs);

function claimFirst(dedup: SqliteDedup, key: string, ttlMs = TTL_MS): string {
  const claim = dedup.claim(key, ttlMs);
  if (claim.status !== "first") throw new Error(`${key} is claimed already`);
  return claim.token;
}

describe("sqliteDedup()", () => {
  test("claims a key once, whatever its text", () => {
    const dedup = openDedup();
    const other = openDedup();
    for (const key of ["__proto__", "a'b", "ação 🚨", " a", "a ", "a"]) {
      clockMs = START_MS;
      const first = dedup.claim(key, TTL_MS);
      expect(first).toEqual({ status: "first", token: expect.any(String) });
      clockMs = START_MS + 5;
      expect(other.claim(key, TTL_MS)).toEqual({ status: "duplicate", value: null });
    }
  });

  test("is not extended by duplicates", () => {
    const dedup = openDedup();
    const firsts: number[] = [];
    for (let minute = 0; minute <= 70; minute += 10) {
      clockMs = START_MS + minute * 60_000;
      if (dedup.claim("a", TTL_MS).status === "first") firsts.push(minute);
    }
    expect(firsts).toEqual([0, 30, 60]);
  });

  test("a claim ends when the clock is set back behind it", () => {
    const dedup = openDedup();
    const token = claimFirst(dedup, "a");
    clockMs = START_MS - 1;
    expect(dedup.release("a", token)).toBe(false);
    claimFirst(dedup, "a");
  });

  test("takes no confirmation and no release of a claim that is over or another's", () => {
    const dedup = openDedup();
    const old = claimFirst(dedup, "a");
    clockMs = START_MS + TTL_MS;
    expect(dedup.confirm("a", old, { value: "old", ttlMs: TTL_MS })).toBe(false);
    const token = claimFirst(dedup, "a");
    expect(dedup.confirm("a", old, { value: "old", ttlMs: 1 })).toBe(false);
    expect(dedup.release("a", old)).toBe(false);
    expect(dedup.release("b", token)).toBe(false);
    expect(dedup.claim("a", TTL_MS)).toMatchObject({ status: "duplicate", value: null });
  });

  test("remembers over a restart", () => {
    const before = openDedup();
    const token = claimFirst(before, "a");
    expect(before.confirm("a", token, { value: "v", ttlMs: TTL_MS })).toBe(true);
    closeAll();
    const dedup = openDedup();
    expect(dedup.claim("a", TTL_MS)).toMatchObject({ status: "duplicate", value: "v" });
    expect(dedup.release("a", token)).toBe(true);
  });

  test("agrees with a simple model on any sequence of calls", () => {
    const db = open();
    const property = fc.property(fc.array(steps, { maxLength: 30 }), (sequence) => {
      db.exec("delete from dedup");
      const model = new Model();
      const tokens = ["none"];
      for (const step of sequence) takeStep(openDedup(db), model, tokens, step);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

type Step =
  | { do: "claim"; key: string; ttlMs: number }
  | {
      do: "confirm" | "release";
      key: string;
      nth: number;
      ttlMs: number;
      value: string;
    }
  | { do: "move"; ms: number };

const keys = fc.constantFrom("a", "b", "c");
const durations = fc.integer({ min: 1, max: 12 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("claim" as const), key: keys, ttlMs: durations }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("confirm" as const, "release" as const),
      key: keys,
      nth: fc.nat(3),
      ttlMs: durations,
      value: fc.constantFrom("x", "y"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("move" as const), ms: fc.integer({ min: -9, max: 9 }) }),
  },
);

type Entry = { token: string; claimedAtMs: number; endsAtMs: number; value: string | null };

/** A simple model of the dedup: one process, in memory. */
class Model {
  readonly entries = new Map<string, Entry>();

  inForce(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && entry.claimedAtMs <= clockMs && clockMs < entry.endsAtMs
      ? entry
      : undefined;
  }

  /** What a claim must return; the token, which is random, comes from `actual`. */
  claim(key: string, ttlMs: number, actual: Claim): Claim {
    const entry = this.inForce(key);
    if (entry === undefined) {
      const token = actual.status === "first" ? actual.token : "";
      this.entries.set(key, { token, claimedAtMs: clockMs, endsAtMs: clockMs + ttlMs, value: null });
      return { status: "first", token };
    }
    return { status: "duplicate", value: entry.value };
  }

  settle(step: Extract<Step, { key: string; nth: number }>, token: string): boolean {
    const entry = this.inForce(step.key);
    if (entry?.token !== token) return false;
    if (step.do === "release") return this.entries.delete(step.key);
    entry.endsAtMs = clockMs + step.ttlMs;
    entry.value = step.value;
    return true;
  }
}

function takeStep(dedup: SqliteDedup, model: Model, tokens: string[], step: Step): void {
  if (step.do === "move") {
    clockMs += step.ms;
  } else if (step.do === "claim") {
    const claim = dedup.claim(step.key, step.ttlMs);
    expect(claim).toEqual(model.claim(step.key, step.ttlMs, claim));
    if (claim.status === "first") tokens.push(claim.token);
  } else {
    const token = tokens[Math.max(0, tokens.length - 1 - step.nth)]!;
    const { ttlMs, value } = step;
    const answer =
      step.do === "release"
        ? dedup.release(step.key, token)
        : dedup.confirm(step.key, token, { ttlMs, value });
    expect(answer).toBe(model.settle(step, token));
  }
}

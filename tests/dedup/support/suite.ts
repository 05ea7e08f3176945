/** What a dedup must do on every store; a test file registers it for its store. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Claim, Confirmation } from "../../../lib/dedup/sqlite.ts";
import { assertInDatabase } from "../../support/property.ts";

/** A dedup of any store; a call may return a promise. */
export type AnyDedup = {
  claim(key: string, ttlMs: number): Claim | Promise<Claim>;
  confirm(key: string, token: string, confirmation?: Confirmation): boolean | Promise<boolean>;
  release(key: string, token: string): boolean | Promise<boolean>;
  prune(): number | Promise<number>;
};

/** A dedup on an empty store of its own, with the clock at `START_MS`. */
export type DedupFixture = {
  dedup: AnyDedup;
  setClock(ms: number): void | Promise<void>;
  /** One more dedup on the same store, as another process has it. */
  another(): Promise<AnyDedup>;
  /** Closes what is open and returns a dedup on the same store. */
  reopen(): Promise<AnyDedup>;
  /** Runs `work` with a dedup inside a transaction that is then rolled back. */
  rolledBack(work: (dedup: AnyDedup) => Promise<void>): Promise<void>;
  /** How many entries the store holds, expired ones included. */
  countEntries(): number | Promise<number>;
  close(): Promise<void>;
};

/** Where the clock of a new fixture stands: within a second, because boundaries are exact to the millisecond. */
export const START_MS = Date.UTC(2026, 10, 16, 14, 0, 0, 250);

const MINUTE_MS = 60_000;
const TTL_MS = 30 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Registers the suite for one store. */
export function dedupSuite(name: string, open: () => Promise<DedupFixture>): void {
  describe(`${name}, as a dedup`, () => {
    let fixture: DedupFixture;
    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(() => fixture.close());
    claimTests(() => fixture);
    confirmationTests(() => fixture);
    clockTests(() => fixture);
    storeTests(() => fixture);
  });
  describe(`${name}, as a dedup`, () => {
    test("agrees with a simple model on any sequence of calls", () => agreesWithModel(open));
  });
}

async function claimFirst(dedup: AnyDedup, key: string, ttlMs = TTL_MS): Promise<string> {
  const claim = await dedup.claim(key, ttlMs);
  if (claim.status !== "first") throw new Error(`${key} is claimed already`);
  return claim.token;
}

function claimTests(fixture: () => DedupFixture): void {
  test("claims a key once, and tells the others when that was", async () => {
    const { dedup } = fixture();
    expect(await dedup.claim("a", TTL_MS)).toEqual({
      status: "first",
      token: expect.any(String),
      claimedAtMs: START_MS,
    });
    await fixture().setClock(START_MS + 5);
    const duplicate = { status: "duplicate", claimedAtMs: START_MS, value: null } as const;
    expect(await dedup.claim("a", TTL_MS)).toEqual(duplicate);
    expect((await dedup.claim("b", TTL_MS)).status).toBe("first");
  });

  test("gives 50 claims at once one first", async () => {
    const dedups = [fixture().dedup, await fixture().another()];
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, index) => dedups[index % 2]?.claim("storm", TTL_MS)),
    );
    expect(claims.filter((claim) => claim?.status === "first")).toHaveLength(1);
    expect(claims.filter((claim) => claim?.status === "duplicate")).toHaveLength(49);
  });

  test("holds to the last millisecond of its time, and not one longer", async () => {
    const { dedup, setClock } = fixture();
    await claimFirst(dedup, "a");
    await setClock(START_MS + TTL_MS - 1);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("duplicate");
    await setClock(START_MS + TTL_MS);
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({
      status: "first",
      claimedAtMs: START_MS + TTL_MS,
    });
  });

  test("is not extended by duplicates", async () => {
    const { dedup, setClock } = fixture();
    const outcomes: string[] = [];
    for (let minute = 0; minute <= 70; minute += 10) {
      await setClock(START_MS + minute * MINUTE_MS);
      outcomes.push(`${minute} ${(await dedup.claim("a", TTL_MS)).status}`);
    }
    expect(outcomes.filter((line) => line.endsWith("first"))).toEqual(["0 first", "30 first", "60 first"]);
  });

  test("takes any text as a key", async () => {
    const { dedup } = fixture();
    for (const key of ["__proto__", "a'b", "ação 🚨", " a", "a "]) await claimFirst(dedup, key);
    expect((await dedup.claim("ação 🚨", TTL_MS)).status).toBe("duplicate");
  });
}

function confirmationTests(fixture: () => DedupFixture): void {
  test("leaves a value for later duplicates, until the claim is over", async () => {
    const { dedup, setClock } = fixture();
    const token = await claimFirst(dedup, "a");
    expect(await dedup.confirm("a", token, { value: "https://tracker/1" })).toBe(true);
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({ value: "https://tracker/1" });
    expect(await dedup.confirm("a", token)).toBe(true);
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({ value: "https://tracker/1" });
    await setClock(START_MS + TTL_MS);
    await claimFirst(dedup, "a");
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({ status: "duplicate", value: null });
  });

  test("confirmed without a time of its own keeps the one it has", async () => {
    const { dedup, setClock } = fixture();
    const token = await claimFirst(dedup, "a");
    await setClock(START_MS + 10 * MINUTE_MS);
    expect(await dedup.confirm("a", token)).toBe(true);
    await setClock(START_MS + TTL_MS);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("first");
  });

  test("confirmed for longer holds that long from the confirmation, whatever later claims would hold", async () => {
    const { dedup, setClock } = fixture();
    const token = await claimFirst(dedup, "a", 2 * MINUTE_MS);
    await setClock(START_MS + MINUTE_MS);
    expect(await dedup.confirm("a", token, { ttlMs: TTL_MS })).toBe(true);
    for (const atMs of [START_MS + 3 * MINUTE_MS, START_MS + MINUTE_MS + TTL_MS - 1]) {
      await setClock(atMs);
      expect((await dedup.claim("a", 2 * MINUTE_MS)).status).toBe("duplicate");
    }
    await setClock(START_MS + MINUTE_MS + TTL_MS);
    expect((await dedup.claim("a", 2 * MINUTE_MS)).status).toBe("first");
  });

  test("released is free at once", async () => {
    const { dedup } = fixture();
    const token = await claimFirst(dedup, "a");
    expect(await dedup.release("a", token)).toBe(true);
    expect(await dedup.release("a", token)).toBe(false);
    await claimFirst(dedup, "a");
  });

  test("takes no confirmation and no release of a claim that is over or another's", async () => {
    const { dedup, setClock } = fixture();
    const old = await claimFirst(dedup, "a");
    await setClock(START_MS + TTL_MS);
    expect(await dedup.confirm("a", old, { value: "old" })).toBe(false);
    expect(await dedup.release("a", old)).toBe(false);
    const token = await claimFirst(dedup, "a");
    expect(await dedup.confirm("a", old, { value: "old", ttlMs: 1 })).toBe(false);
    expect(await dedup.release("a", old)).toBe(false);
    expect(await dedup.release("b", token)).toBe(false);
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({ status: "duplicate", value: null });
  });
}

function clockTests(fixture: () => DedupFixture): void {
  test("suppresses for no longer than its own time after the clock was set back by a day", async () => {
    const { dedup, setClock } = fixture();
    await claimFirst(dedup, "a");
    const back = START_MS - DAY_MS;
    await setClock(back);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("duplicate");
    await setClock(back + TTL_MS - 1);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("duplicate");
    await setClock(back + TTL_MS);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("first");
  });

  test("set back a little and forward again still ends within its own time", async () => {
    const { dedup, setClock } = fixture();
    await claimFirst(dedup, "a");
    await setClock(START_MS - MINUTE_MS);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("duplicate");
    await setClock(START_MS - MINUTE_MS + TTL_MS);
    expect((await dedup.claim("a", TTL_MS)).status).toBe("first");
  });

  test("can be confirmed and released although the clock was set back", async () => {
    const { dedup, setClock } = fixture();
    const token = await claimFirst(dedup, "a");
    await setClock(START_MS - DAY_MS);
    expect(await dedup.confirm("a", token, { value: "v" })).toBe(true);
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({ status: "duplicate", value: "v" });
    expect(await dedup.release("a", token)).toBe(true);
  });
}

function storeTests(fixture: () => DedupFixture): void {
  test("forgets what a rolled back transaction claimed, confirmed and released", async () => {
    const { dedup } = fixture();
    const kept = await claimFirst(dedup, "kept");
    await fixture().rolledBack(async (inside) => {
      await claimFirst(inside, "undone");
      expect((await inside.claim("undone", TTL_MS)).status).toBe("duplicate");
      expect(await inside.confirm("kept", kept, { value: "undone" })).toBe(true);
      expect(await inside.release("kept", kept)).toBe(true);
    });
    await claimFirst(dedup, "undone");
    expect(await dedup.claim("kept", TTL_MS)).toMatchObject({ status: "duplicate", value: null });
  });

  test("remembers over a restart", async () => {
    const token = await claimFirst(fixture().dedup, "a");
    await fixture().dedup.confirm("a", token, { value: "v" });
    const dedup = await fixture().reopen();
    expect(await dedup.claim("a", TTL_MS)).toMatchObject({ status: "duplicate", value: "v" });
    expect(await dedup.release("a", token)).toBe(true);
  });

  test("prunes what is over, and nothing else", async () => {
    const { dedup, setClock } = fixture();
    for (const key of ["a", "b", "c"]) await claimFirst(dedup, key);
    await setClock(START_MS + 1);
    await claimFirst(dedup, "d");
    expect(await dedup.prune()).toBe(0);
    await setClock(START_MS + TTL_MS);
    expect(await dedup.prune()).toBe(3);
    expect(await fixture().countEntries()).toBe(1);
    expect((await dedup.claim("d", TTL_MS)).status).toBe("duplicate");
  });
}

type Step =
  | { do: "claim"; key: string; ttlMs: number }
  | {
      do: "confirm" | "release";
      key: string;
      nth: number;
      ttlMs: number | undefined;
      value: string | undefined;
    }
  | { do: "move"; ms: number }
  | { do: "prune" };

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
      ttlMs: fc.option(durations, { nil: undefined }),
      value: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("move" as const), ms: fc.integer({ min: -9, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("prune" as const) }) },
);

type Entry = { token: string; claimedAtMs: number; ttlMs: number; endsAtMs: number; value: string | null };

/** A simple model of the dedup: one process, in memory. */
class Model {
  nowMs = START_MS;
  readonly entries = new Map<string, Entry>();

  inForce(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && this.nowMs < entry.endsAtMs ? entry : undefined;
  }

  /** What a claim must return; the token, which is random, comes from `actual`. */
  claim(key: string, ttlMs: number, actual: Claim): Claim {
    const entry = this.inForce(key);
    if (entry === undefined) {
      const token = actual.status === "first" ? actual.token : "";
      const endsAtMs = this.nowMs + ttlMs;
      this.entries.set(key, { token, claimedAtMs: this.nowMs, ttlMs, endsAtMs, value: null });
      return { status: "first", token, claimedAtMs: this.nowMs };
    }
    entry.endsAtMs = Math.min(entry.endsAtMs, this.nowMs + entry.ttlMs);
    return { status: "duplicate", claimedAtMs: entry.claimedAtMs, value: entry.value };
  }

  settle(step: Extract<Step, { key: string; nth: number }>, token: string): boolean {
    const entry = this.inForce(step.key);
    if (entry?.token !== token) return false;
    if (step.do === "release") return this.entries.delete(step.key);
    if (step.ttlMs !== undefined) {
      entry.ttlMs = step.ttlMs;
      entry.endsAtMs = this.nowMs + step.ttlMs;
    }
    entry.value = step.value ?? entry.value;
    return true;
  }
}

async function agreesWithModel(open: () => Promise<DedupFixture>): Promise<void> {
  const property = fc.asyncProperty(fc.array(steps, { maxLength: 30 }), async (sequence) => {
    const fixture = await open();
    try {
      const model = new Model();
      const tokens: string[] = ["none"];
      for (const step of sequence) await takeStep(fixture, model, tokens, step);
    } finally {
      await fixture.close();
    }
  });
  await assertInDatabase(property, { numRuns: 40 });
}

async function takeStep(fixture: DedupFixture, model: Model, tokens: string[], step: Step): Promise<void> {
  const { dedup } = fixture;
  if (step.do === "move") {
    model.nowMs += step.ms;
    await fixture.setClock(model.nowMs);
  } else if (step.do === "prune") {
    const over = [...model.entries.keys()].filter((key) => model.inForce(key) === undefined);
    for (const key of over) model.entries.delete(key);
    expect(await dedup.prune()).toBe(over.length);
  } else if (step.do === "claim") {
    const claim = await dedup.claim(step.key, step.ttlMs);
    expect(claim).toEqual(model.claim(step.key, step.ttlMs, claim));
    if (claim.status === "first") tokens.push(claim.token);
  } else {
    const token = tokens[Math.max(0, tokens.length - 1 - step.nth)] as string;
    const { ttlMs, value } = step;
    const answer =
      step.do === "release"
        ? await dedup.release(step.key, token)
        : await dedup.confirm(step.key, token, { ttlMs, value });
    expect(answer).toBe(model.settle(step, token));
  }
}

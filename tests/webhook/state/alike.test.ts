/** Both stores beside each other: whatever is called, they say the same. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import { OUTBOX_KINDS, type Settlement, type State } from "../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../lib/webhook/state/postgres/state.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import { assertInDatabase } from "../../support/property.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createStateDatabase, type StateDatabase } from "../support/postgres-state.ts";
import { sampleAlert } from "../support/sample-alert.ts";
import { DAY_MS, MINUTE_MS, retryAfter, SECOND_MS, START_MS } from "../support/state-fixture.ts";

/** One call, or a clock that is moved. */
type Step = { waitMs: number } | { say: string; call(state: State): Promise<unknown> };

const FINGERPRINTS = ["a", "b", "c"];

const row = fc.integer({ min: 1, max: 16 });
const rows = fc.uniqueArray(row, { maxLength: 4 });
const named = (say: string, call: (state: State) => Promise<unknown>): Step => ({ say, call });
const alert = fc
  .record({
    fingerprint: fc.constantFrom(...FINGERPRINTS),
    firing: fc.boolean(),
    severity: fc.constantFrom("critical", "high", null),
    startsAt: fc.constantFrom("2026-11-16T14:00:00Z", "2026-11-16T15:00:00Z", null),
    via: fc.option(fc.constant("other")),
  })
  .map(({ firing, via, ...changes }) =>
    sampleAlert({
      ...changes,
      ...{ firing, status: firing ? "firing" : "resolved", labels: via === null ? {} : { via } },
    }),
  );
const shortOf = (alerts: readonly Alert[]) =>
  alerts.map(({ fingerprint, status, severity, startsAt }) =>
    [fingerprint, status, severity, startsAt].join(" "),
  );
const settlement = fc.oneof(
  row.map((id): Settlement => ({ status: "delivered", reference: `id-${id}`, url: `https://t/${id}` })),
  fc.constantFrom<Settlement>(
    { status: "delivered", reference: null, url: null },
    { status: "dead", code: "refused" },
    { status: "dead", code: "gateway_http_504", isUnanswered: true },
    { status: "in_doubt", code: "timeout" },
    retryAfter(5 * SECOND_MS),
    retryAfter(0, { isUnclear: true, triedMs: 77 }),
    retryAfter(2 * MINUTE_MS, { isUnanswered: true }),
  ),
);
const tried = fc.record({
  text: fc.constantFrom("before", "antes \ud800"),
  attempts: fc.integer({ min: 1, max: 4 }),
  unclear: fc.integer({ min: 0, max: 3 }),
  begunForMs: fc.integer({ min: 0, max: 90_000 }),
  unansweredForMs: fc.option(fc.integer({ min: 0, max: 60_000 })),
  delayMs: fc.integer({ min: 0, max: 65_000 }),
});

const accept = (most: number) =>
  fc
    .tuple(
      fc.array(fc.array(alert, { minLength: 1, maxLength: most }), { minLength: 1, maxLength: 2 }),
      fc.option(fc.record({ fingerprint: fc.constantFrom(...FINGERPRINTS), tried })),
    )
    .map(([requests, before]) =>
      named(`accept ${JSON.stringify(requests.map(shortOf))} ${JSON.stringify(before)}`, (state) =>
        state.accept(requests, {
          issue: (fingerprint) => (fingerprint === before?.fingerprint ? START_MS - MINUTE_MS : undefined),
          message: ({ fingerprint }) => (fingerprint === before?.fingerprint ? before.tried : undefined),
        }),
      ),
    );

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: accept(3) },
  {
    weight: 8,
    arbitrary: fc.tuple(row, settlement).map(([id, end]) =>
      named(`settle ${id} ${JSON.stringify(end)}`, async (state) => {
        // Only what was begun is tried again.
        if (end.status === "retry" && !(await state.begin(id, { text: "sent" }))) return;
        await state.settle(id, end);
      }),
    ),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(row, fc.constantFrom("one", "two", null), fc.option(rows))
      .map(([id, text, members]) => {
        const begun = text === null ? null : { text, ...(members !== null && { members }) };
        return named(`begin ${id} ${JSON.stringify(begun)}`, (state) => state.begin(id, begun));
      }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(row, tried)
      .map(([id, before]) =>
        named(`takeUp ${id} ${JSON.stringify(before)}`, (state) => state.takeUp(id, before)),
      ),
  },
  fc.option(rows).map((ids) => named(`retryDead ${ids}`, (state) => state.retryDead(ids))),
  rows.map((ids) => named(`dropDead ${ids}`, (state) => state.dropDead(ids))),
  rows.map((ids) => named(`dropQueued ${ids}`, (state) => state.dropQueued(ids))),
  fc.constant(
    named("recordEmailed", async (state) => {
      const unheard = await state.unheard(MINUTE_MS);
      await state.recordEmailed(unheard.map((one) => one.row));
    }),
  ),
  fc.constant(named("recordDetourTold", (state) => state.recordDetourTold({ emailed: 1, givenUp: 1 }))),
  fc
    .tuple(fc.constantFrom(...FINGERPRINTS), fc.constantFrom(-MINUTE_MS, 0, MINUTE_MS))
    .map(([fingerprint, atMs]) =>
      named(`rememberIssues ${fingerprint} ${atMs}`, (state) =>
        state.rememberIssues([{ fingerprint, claimedAtMs: START_MS + atMs, url: "https://t/0" }]),
      ),
    ),
  fc.constant(named("hold", (state) => state.hold("issue", "refused"))),
  fc.constant(named("prune", (state) => state.prune())),
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        1,
        4 * SECOND_MS,
        2 * MINUTE_MS,
        31 * MINUTE_MS,
        31 * DAY_MS,
        91 * DAY_MS,
        -60 * MINUTE_MS,
      )
      .map((waitMs) => ({ waitMs })),
  },
);

/** All that can be read; an attempt that is due since long ago may be told as one without a time. */
async function reads(state: State, clockMs: number): Promise<unknown> {
  const references = Array.from({ length: 24 }, (_, at) => `id-${at + 1}`);
  const due = await Promise.all(
    OUTBOX_KINDS.flatMap((kind) =>
      [0, 2_000].map((issueGraceMs) => state.due(kind, { limit: 30, except: [2], issueGraceMs })),
    ),
  );
  const { reserveBytes: _, ...stats } = await state.stats();
  const ofEach = await Promise.all(
    FINGERPRINTS.map(async (one) => [await state.latest(one), await state.issueClaim(one)]),
  );
  const members = await Promise.all([1, 2, 3, 4, 5].map((id) => state.membersOf(id)));
  const began = await Promise.all(OUTBOX_KINDS.map((kind) => state.begunWithin(kind, 30 * MINUTE_MS)));
  const held = await Promise.all(
    OUTBOX_KINDS.map(async (kind) => [...(await state.heldReferences(kind, references))].sort()),
  );
  return {
    ...{ due, stats, ofEach, members, began, held, digestible: await state.digestible([3]) },
    ...{
      waiting: await state.waitingMessages(50),
      dead: await state.listDead(),
      queued: (await state.listQueued(50)).map(({ nextAttemptAt, ...queued }) => ({
        ...queued,
        nextAttemptAt: Date.parse(nextAttemptAt ?? "") > clockMs ? nextAttemptAt : null,
      })),
    },
    delivered: (await state.deliveredBetween(DAY_MS, SECOND_MS)).sort(),
    unheard: (await state.unheard(3 * MINUTE_MS)).sort((a, b) => a.row - b.row),
    unacknowledged: (await state.unacknowledged(references)).sort((a, b) => a.row - b.row),
    ...{ detour: await state.detour(), recent: await state.recent(50), hourly: await state.hourly(3) },
    holds: await state.holds(),
  };
}

let store: StateDatabase;
let shared: State;
beforeAll(async () => {
  store = await createStateDatabase();
  const url = new Secret(store.database.url);
  shared = await openPostgresState({ url, comments: true, log: silentLog, applicationName: "alike" });
});
afterAll(async () => {
  await shared.close();
  await store.database.drop();
});

test("the state in a file and the one in PostgreSQL say the same after any calls", async () => {
  const calls = fc
    .tuple(accept(8), fc.array(step, { minLength: 10, maxLength: 30 }))
    .map(([first, more]) => [first, ...more]);
  const property = fc.asyncProperty(calls, async (steps) => {
    const directory = mkdtempSync(join(tmpdir(), "opsctl-alike-"));
    let clockMs = START_MS;
    await store.empty(clockMs);
    const own = await openSqliteState({ directory, nowMs: () => clockMs, comments: true, log: silentLog });
    const said: string[] = [];
    try {
      for (const one of steps) {
        if ("waitMs" in one) {
          clockMs += one.waitMs;
          said.push(`wait ${one.waitMs}`);
          await store.setClock(clockMs);
          continue;
        }
        said.push(one.say);
        const [ofFile, ofDatabase] = [await one.call(own), await one.call(shared)];
        try {
          expect(ofDatabase).toEqual(ofFile);
          expect(await reads(shared, clockMs)).toEqual(await reads(own, clockMs));
        } catch (cause) {
          throw new Error(`${said.join("\n")}\n${(cause as Error).message}`, { cause });
        }
      }
    } finally {
      await own.close();
      rmSync(directory, { recursive: true });
    }
  });
  await assertInDatabase(property, { numRuns: 15 });
});

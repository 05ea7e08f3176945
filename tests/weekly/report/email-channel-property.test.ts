import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { assertInDatabase } from "../../support/property.ts";
import { type Sends, seedOwner, WEEK, writeSends } from "../../support/seed.ts";
import { reportsOf } from "../support/reported-owners.ts";
import { startOver } from "../support/shared-weekly.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

let weekly: WeeklyFixture;
beforeAll(async () => {
  weekly = await weeklyFixture();
});
afterAll(() => weekly[Symbol.asyncDispose]());

const START = BigInt(Date.parse(WEEK.start)) * 1000n;
const END = BigInt(Date.parse(WEEK.end)) * 1000n;
const NAMES: Record<string, string> = {
  "email.delivered": "delivered",
  "email.opened": "opened",
  "email.clicked": "clicked",
  "email.bounced": "bounced",
  "email.complained": "complained",
  "email.failed": "failed",
  "email.delivery_delayed": "delayed",
  "email.suppressed": "suppressed",
};

/** Owners of one run: each costs some milliseconds, a run of its own would cost more. */
const OWNERS = 40;

/** Microseconds since 1970 as UTC text. */
function instant(micros: bigint): string {
  const seconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, "0")}Z`;
}

// Instants near the ends of the week and far from them, so that the bounds are met often.
const micros = fc.oneof(
  fc.bigInt({ min: -3n, max: 3n }).map((offset) => START + offset),
  fc.bigInt({ min: -3n, max: 3n }).map((offset) => END + offset),
  fc.bigInt({ min: START - 86_400_000_000n, max: END + 86_400_000_000n }),
);
const event = fc.record({
  type: fc.constantFrom(...Object.keys(NAMES), "email.sent", "email.other"),
  at: micros,
  /** A repeated event has another id and all the rest alike. */
  isRepeated: fc.boolean(),
});
const send = fc.record({
  at: micros,
  /** Who has sent it, and under whose tenant its events are. */
  of: fc.constantFrom("owner", "owner", "owner", "colleague", "stranger"),
  eventsOf: fc.constantFrom("owner", "owner", "owner", "stranger"),
  events: fc.array(event, { maxLength: 5 }),
});
type Event = { id: string; type: string; at: bigint };
type Send = { at: bigint; of: string; eventsOf: string; events: Event[] };

const isInside = (at: bigint) => at >= START && at < END;

/** `part / whole` to four decimals, half up, in whole numbers only. */
function rate(part: number, whole: number): number {
  const [p, w] = [BigInt(part), BigInt(whole)];
  return Number(`${(2n * p * 10_000n + w) / (2n * w)}e-4`);
}

function expectedMetrics(sends: Send[]): object | null {
  const eventsOfSends = sends
    .filter(({ at, of }) => of === "owner" && isInside(at))
    .map(({ events, eventsOf }) => {
      const known = events.filter(({ at, type }) => eventsOf === "owner" && isInside(at) && type in NAMES);
      known.sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1));
      return known.map(({ type }) => NAMES[type]!);
    });
  if (eventsOfSends.length === 0) return null;
  const last = (name: string) =>
    eventsOfSends.filter((states) => (states.at(-1) ?? "noEvent") === name).length;
  const has = (...names: string[]) =>
    eventsOfSends.filter((states) => states.some((state) => names.includes(state))).length;
  const counts = Object.fromEntries([...Object.values(NAMES), "noEvent"].map((name) => [name, last(name)]));
  const reached = {
    delivered: has("delivered", "opened", "clicked", "complained"),
    opened: has("opened", "clicked"),
    clicked: has("clicked"),
  };
  const known = eventsOfSends.length - counts.noEvent!;
  const share = (part: number) =>
    known === 0 || known * 2 < eventsOfSends.length ? null : rate(part, known);
  const rates = {
    deliveryRate: share(reached.delivered),
    openRate: share(reached.opened),
    clickRate: share(reached.clicked),
    bounceRate: share(counts.bounced!),
  };
  const nothing = (figures: object) => Object.fromEntries(Object.keys(figures).map((key) => [key, null]));
  const figures = known === 0 ? { ...nothing(counts), reached: nothing(reached) } : { ...counts, reached };
  return { sends: eventsOfSends.length, ...figures, ...rates };
}

/** A send with the ids of its events, repeated ones after those that they repeat. */
const identified = ({ events, ...rest }: typeof send extends fc.Arbitrary<infer T> ? T : never): Send => ({
  ...rest,
  events: events.flatMap(({ isRepeated, ...each }) =>
    Array.from({ length: isRepeated ? 2 : 1 }, () => ({ ...each, id: randomUUID() })),
  ),
});

test("a report's figures agree with arithmetic in whole numbers, whatever was sent and happened", async () => {
  const lists = fc.array(fc.array(send, { maxLength: 30 }), { minLength: OWNERS, maxLength: OWNERS });
  const property = fc.asyncProperty(lists, async (drawn) => {
    await startOver(weekly);
    const sends = drawn.map((list) => list.map(identified));
    const stranger = await seedOwner(weekly.db.sql, { role: "member", sends: [] });
    const cases = sends.map((list, i) => {
      const also = async (sql: typeof weekly.db.sql, owner: { tenantId: string; userId: string }) => {
        const senders: Record<string, typeof owner> = {
          ...{ owner, stranger },
          colleague: { tenantId: owner.tenantId, userId: stranger.userId },
        };
        for (const of of Object.keys(senders)) {
          const own = list.filter((each) => each.of === of);
          const rows = own.map(
            ({ at, events, eventsOf }): Sends => ({
              at: instant(at),
              events: events.map(({ id, type, at: eventAt }) => ({
                ...{ id, type, at: instant(eventAt) },
                tenantId: senders[eventsOf]!.tenantId,
              })),
            }),
          );
          await writeSends(sql, senders[of]!, rows);
        }
      };
      return [`owner ${i}`, { also }] as const;
    });
    const reports = await reportsOf(Object.fromEntries(cases), weekly);
    for (const [i, list] of sends.entries())
      expect<unknown>(reports[`owner ${i}`]!.payload.channels.email.metrics).toEqual(expectedMetrics(list));
  });
  await assertInDatabase(property, { numRuns: 4 });
});

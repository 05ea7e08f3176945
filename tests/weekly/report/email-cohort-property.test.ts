import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { emailChannel } from "../../../lib/weekly/report/email-channel.ts";
import { evidenceOf } from "../../../lib/weekly/report/evidence.ts";
import { assertInDatabase } from "../../support/property.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";

let weekly: EvidenceFixture;
beforeAll(async () => {
  weekly = await evidenceFixture();
});
afterAll(() => weekly.close());

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
  id: fc.uuid(),
  type: fc.constantFrom(...Object.keys(NAMES), "email.sent", "email.other"),
  at: micros,
});
const send = fc.record({
  at: micros,
  /** Whose send it is, and whose events its events say they are. */
  of: fc.constantFrom("owner", "owner", "owner", "colleague", "stranger", "nobody"),
  eventsOf: fc.constantFrom("owner", "owner", "owner", "stranger"),
  /** A repeated event has another id and all the rest alike. */
  events: fc.array(event, { maxLength: 5 }),
  repeated: fc.array(fc.uuid(), { maxLength: 2 }),
});
type Event = { id: string; type: string; at: bigint };
type Send = { at: bigint; of: string; eventsOf: string; events: Event[]; repeated: string[] };

const isInside = (at: bigint) => at >= START && at < END;

/** `part / whole` to four decimals, half up, in whole numbers only. */
function rate(part: bigint, whole: bigint): number {
  return Number(`${(2n * part * 10_000n + whole) / (2n * whole)}e-4`);
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
  const names = [...Object.values(NAMES), "noEvent"];
  const counts = Object.fromEntries(names.map((name) => [name, last(name)]));
  const reached = {
    delivered: has("delivered", "opened", "clicked", "complained"),
    opened: has("opened", "clicked"),
    clicked: has("clicked"),
  };
  const known = eventsOfSends.length - counts.noEvent!;
  const share = (part: number) =>
    known * 2 < eventsOfSends.length ? null : rate(BigInt(part), BigInt(known));
  const rates = {
    deliveryRate: known === 0 ? null : share(reached.delivered),
    openRate: known === 0 ? null : share(reached.opened),
    clickRate: known === 0 ? null : share(reached.clicked),
    bounceRate: known === 0 ? null : share(counts.bounced!),
  };
  const nothing = (figures: object) => Object.fromEntries(Object.keys(figures).map((key) => [key, null]));
  const figures = known === 0 ? { ...nothing(counts), ...rates } : { ...counts, ...rates };
  return { sends: eventsOfSends.length, ...figures, reached: known === 0 ? nothing(reached) : reached };
}

/** The same sends with each event once by its id, and the repeated ones after those that they repeat. */
function withDistinctIds(sends: Send[]): Send[] {
  const ids = new Set<string>();
  const isNew = (id: string) => !ids.has(id) && ids.add(id);
  return sends.map(({ events, repeated, ...rest }) => {
    const own = events.filter(({ id }) => isNew(id));
    const again = own.length === 0 ? [] : repeated.filter(isNew).map((id) => ({ ...own[0]!, id }));
    return { ...rest, repeated: [], events: [...own, ...again] };
  });
}

test("the cohort agrees with arithmetic in whole numbers, whatever was sent and happened", async () => {
  const property = fc.asyncProperty(fc.array(send, { maxLength: 30 }), async (sends) => {
    const scope = await weekly.newOwner();
    const stranger = await weekly.newOwner();
    const scopes: Record<string, typeof scope> = {
      ...{ owner: scope, stranger },
      colleague: { tenantId: scope.tenantId, userId: stranger.userId },
    };
    const distinct = withDistinctIds(sends);
    const rows = distinct.map(({ at, of }) => ({ of, emailId: randomUUID(), at: instant(at) }));
    await weekly.db.sql`delete from resend_email_events`;
    await weekly.writeSends(
      // What nobody has sent leaves events without a send.
      rows.flatMap(({ of, ...row }) => (scopes[of] === undefined ? [] : [{ ...scopes[of], ...row }])),
      distinct.flatMap(({ events, eventsOf }, i) =>
        events.map(({ id, type, at }) => ({
          ...{ id, type, at: instant(at) },
          ...{ tenantId: scopes[eventsOf]!.tenantId, emailId: rows[i]!.emailId },
        })),
      ),
    );
    const { email } = evidenceOf(await weekly.read(scope));
    const { metrics } = emailChannel(email, WEEK);
    expect(metrics).toEqual(expectedMetrics(distinct) as never);
    const reached = email?.reached ?? { delivered: 0, opened: 0, clicked: 0 };
    expect(reached.clicked).toBeLessThanOrEqual(reached.opened);
    expect(reached.opened).toBeLessThanOrEqual(reached.delivered);
    expect(reached.delivered).toBeLessThanOrEqual(email?.events ?? 0);
  });
  await assertInDatabase(property, { numRuns: 150 });
});

test("rates are rounded to four decimals, half up, for cohorts of any size", () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 5_000_000 }),
    fc.array(fc.nat(5_000_000), { minLength: 8, maxLength: 8 }),
    (sends, weights) => {
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const parts = weights.map((weight) => (total === 0 ? 0 : Math.floor((sends * weight) / total)));
      const [delivered, opened, clicked, bounced, complained, failed, delayed, suppressed] = parts as [
        ...Array<number>,
      ] as [number, number, number, number, number, number, number, number];
      const events = parts.reduce((sum, part) => sum + part, 0);
      fc.pre(events > 0);
      const states = { delivered, opened, clicked, bounced, complained, failed, delayed, suppressed };
      const reached = {
        delivered: delivered + opened + clicked + complained,
        opened: opened + clicked,
        clicked,
      };
      const { metrics } = emailChannel({ sends, events, ...states, reached }, WEEK);
      const exact = (part: number) => (events * 2 < sends ? null : rate(BigInt(part), BigInt(events)));
      expect(metrics).toMatchObject({
        noEvent: sends - events,
        deliveryRate: exact(reached.delivered),
        openRate: exact(reached.opened),
        clickRate: exact(clicked),
        bounceRate: exact(bounced),
      });
    },
  );
  fc.assert(property, { numRuns: 2000 });
});

test("a rate half-way between two fourth decimals goes up", () => {
  const none = { opened: 0, clicked: 0, complained: 0, failed: 0, delayed: 0, suppressed: 0 };
  const reaching = (delivered: number) => ({ delivered, reached: { delivered, opened: 0, clicked: 0 } });
  const counts = { sends: 20_000, events: 20_000, bounced: 1, ...none, ...reaching(19_999) };
  expect(emailChannel(counts, WEEK).metrics).toMatchObject({
    deliveryRate: 1,
    bounceRate: 0.0001,
    openRate: 0,
  });
  // Computed from the rounded quotient, this one would be just below half.
  const few = { sends: 800, events: 800, bounced: 57, ...none, ...reaching(743) };
  expect(emailChannel(few, WEEK).metrics).toMatchObject({ deliveryRate: 0.9288, bounceRate: 0.0713 });
});

/** Workers, operators and the application in any order, against the real functions: no message is sent twice. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { assertInDatabase } from "../support/property.ts";
import { WEEK } from "../support/seed.ts";
import { type Claim, describeLedger, type Ledger, type Owner, SENDER } from "./support/ledger.ts";

const CHANNELS = ["whatsapp", "email"] as const;
const WORKERS = 2;
const HINTS = { whatsapp: "4321", email: "f***@example.com" };

type Channel = (typeof CHANNELS)[number];
/** What the provider did, and what its answer means to the worker. */
type Answer = "sent" | "refused" | "lost_after_sending" | "lost_before_sending";
/** A delivery in a worker's hands. */
type Held = {
  claim: Claim;
  message: Message;
  channel: Channel;
  reportId: string;
  token: string;
  step: "claimed" | "dispatched" | Answer;
};
/** A message to one person: how often it arrived, and how many sends are on their way. */
type Message = { arrived: string[]; underWay: number };
type Person = Owner & { messages: Record<Channel, Message>; reports: Set<string>; isErased: boolean };
type Worker = { held: Held[]; reports: { claim: Claim; person: Person; token: string }[] };
type World = { ledger: Ledger; people: Person[]; workers: Worker[]; sends: number };

type Step =
  | { do: "claimReport" | "claimAgain" | "persist" | "failReport"; worker: number; person: number }
  | { do: "claimDelivery"; worker: number; person: number; channel: Channel; other: boolean }
  | { do: "claimDeliveryAgain" | "dispatch" | "settle"; worker: number; at: number }
  | { do: "send"; worker: number; at: number; answer: Answer }
  | { do: "die"; worker: number }
  | { do: "reconcile"; person: number; channel: Channel }
  | { do: "otherVersion" | "erase" | "look"; person: number }
  | { do: "wait"; minutes: number };

const worker = fc.nat({ max: WORKERS - 1 });
const person = fc.constantFrom(0, 0, 0, 1);
const at = fc.nat({ max: 2 });
const channel = fc.constantFrom(...CHANNELS);
const answer = fc.constantFrom<Answer>(
  "sent",
  "sent",
  "refused",
  "lost_after_sending",
  "lost_before_sending",
);
const of = <T extends Step["do"]>(...names: T[]) => fc.constantFrom(...names);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: of("claimReport"), worker, person }) },
  { weight: 6, arbitrary: fc.record({ do: of("persist"), worker, person }) },
  { weight: 3, arbitrary: fc.record({ do: of("claimAgain", "failReport"), worker, person }) },
  {
    weight: 20,
    arbitrary: fc.record({ do: of("claimDelivery"), worker, person, channel, other: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ do: of("claimDeliveryAgain"), worker, at }) },
  { weight: 25, arbitrary: fc.record({ do: of("dispatch"), worker, at }) },
  { weight: 25, arbitrary: fc.record({ do: of("send"), worker, at, answer }) },
  { weight: 20, arbitrary: fc.record({ do: of("settle"), worker, at }) },
  { weight: 3, arbitrary: fc.record({ do: of("die"), worker }) },
  { weight: 8, arbitrary: fc.record({ do: of("reconcile"), person, channel }) },
  { weight: 3, arbitrary: fc.record({ do: of("otherVersion", "look"), person }) },
  { weight: 1, arbitrary: fc.record({ do: of("erase"), person }) },
  { weight: 6, arbitrary: fc.record({ do: of("wait"), minutes: fc.constantFrom(1, 2, 5, 21) }) },
);

/** Steps that are taken at the same time. */
const together = fc.array(step, { minLength: 1, maxLength: 4, size: "max" });

/** What a function may refuse in such a world; a deadlock or another fault fails the test. */
const REFUSALS = /^(OW003|OW004|OW005|OW012|OW013|OW020|OW021|OW022|OW023|OW024|OW026|OW027|OW030|23503)$/;

/** Null when the ledger refused; the caller then knows that nothing was done. */
async function unlessRefused<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (!REFUSALS.test(String((error as { code?: unknown }).code))) throw error;
    return null;
  }
}

async function newWorld(ledger: Ledger): Promise<World> {
  await ledger.empty();
  await ledger.sql`update test_clock set shows = '2026-11-23T11:00:00Z'`;
  const message = (): Message => ({ arrived: [], underWay: 0 });
  const newPerson = async (): Promise<Person> => ({
    ...(await ledger.newOwner()),
    messages: { whatsapp: message(), email: message() },
    reports: new Set(),
    isErased: false,
  });
  const workers = Array.from({ length: WORKERS }, () => ({ held: [], reports: [] }));
  const people = [await newPerson(), await newPerson()];
  // One of them gets straight to the deliveries.
  people[0]!.reports.add(await ledger.completedReport(people[0]));
  return { ledger, people, workers, sends: 0 };
}

async function claimReport({ ledger }: World, worker: Worker, person: Person, token: string): Promise<void> {
  const claim = await unlessRefused(() => ledger.claimReport(person, { token }));
  if (claim === null) return;
  if (claim.outcome === "completed") person.reports.add(claim.id);
  if (claim.token !== null) worker.reports.push({ claim, person, token });
}

async function persist({ ledger }: World, worker: Worker, person: Person): Promise<void> {
  const claimed = worker.reports.find((one) => one.person === person);
  if (!claimed) return;
  if ((await unlessRefused(() => ledger.persist(person, claimed.claim))) !== null)
    person.reports.add(claimed.claim.id);
}

/** A report of another version, as the opsctl that knows it would have made it. */
async function otherVersion({ ledger }: World, person: Person): Promise<void> {
  const rows = await unlessRefused(
    () => ledger.sql<{ id: string }[]>`
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
         coverage_status, completed_at)
      values (${person.tenantId}, ${person.userId}, ${WEEK.start}::text::timestamptz,
              ${WEEK.end}::text::timestamptz, 2, 'completed', repeat('0', 64), '', '{}', 'partial', now())
      on conflict do nothing returning id`,
  );
  for (const { id } of rows ?? []) person.reports.add(id);
}

/** What a worker may do with a claim: a token is a licence to go on. */
function hold(worker: Worker, held: Omit<Held, "step">): void {
  const known = worker.held.find((one) => one.token === held.token);
  if (!known) worker.held.push({ ...held, step: "claimed" });
}

async function claimDelivery(
  { ledger }: World,
  worker: Worker,
  person: Person,
  { channel, other }: { channel: Channel; other: boolean },
): Promise<void> {
  const reports = [...person.reports];
  const reportId = other ? reports.at(-1) : reports[0];
  if (reportId === undefined) return;
  const token = crypto.randomUUID();
  const claim = await unlessRefused(() => ledger.claimDelivery(reportId, channel, ledger.sql, token));
  if (claim?.token) hold(worker, { claim, channel, reportId, token, message: person.messages[channel] });
}

/** The first answer was lost: a claim that is not given again is given up. */
async function claimDeliveryAgain({ ledger }: World, worker: Worker, held: Held): Promise<void> {
  if (held.step !== "claimed") return;
  const { reportId, channel, token } = held;
  const claim = await unlessRefused(() => ledger.claimDelivery(reportId, channel, ledger.sql, token));
  if (!claim?.token) worker.held = worker.held.filter((one) => one !== held);
}

async function dispatch({ ledger }: World, held: Held): Promise<void> {
  // A refusal is definite, so it may be tried again under the same claim, as after 429.
  if (held.step !== "claimed" && held.step !== "refused") return;
  held.message.underWay += 1;
  const done = await unlessRefused(async () => {
    await ledger.dispatch(held.claim, HINTS[held.channel], SENDER);
    return true;
  });
  if (done) held.step = "dispatched";
  else held.message.underWay -= 1;
}

function send(world: World, held: Held, answer: Answer): void {
  if (held.step !== "dispatched") return;
  held.step = answer;
  held.message.underWay -= 1;
  if (answer !== "sent" && answer !== "lost_after_sending") return;
  world.sends += 1;
  held.message.arrived.push(`provider-${world.sends}`);
}

async function settle({ ledger }: World, worker: Worker, held: Held): Promise<void> {
  if (held.step === "dispatched") return;
  const id = held.step === "sent" ? held.message.arrived.at(-1)! : null;
  const status = id !== null ? "sent" : held.step.startsWith("lost") ? "unknown" : "failed";
  const settled = await unlessRefused(() =>
    ledger.settle(held.claim, status, id, id === null ? `provider_${status}` : null),
  );
  if (settled !== null) worker.held = worker.held.filter((one) => one !== held);
}

/** A process that is killed: what it has sent stays sent, what it was about to send is not sent. */
function die(world: World, worker: Worker): void {
  for (const held of worker.held) if (held.step === "dispatched") held.message.underWay -= 1;
  world.workers[world.workers.indexOf(worker)] = { held: [], reports: [] };
}

/** An operator who looked: with the provider's id, or with proof that nothing was sent and no process is sending. */
async function reconcile({ ledger }: World, person: Person, channel: Channel): Promise<void> {
  const rows = await ledger.sql<{ id: string }[]>`
    select id from weekly_performance_deliveries where user_id = ${person.userId} and channel = ${channel}`;
  const { arrived, underWay } = person.messages[channel];
  if (arrived.length === 0 && underWay > 0) return;
  for (const { id } of rows)
    await unlessRefused(() =>
      ledger.reconcile(id, arrived.length > 0 ? "sent" : "failed", arrived[0] ?? null),
    );
}

async function erase({ ledger }: World, person: Person): Promise<void> {
  person.isErased = true;
  // The application's own rows of it, which have no cascade here, go first; a new one makes it begin again.
  for (let left = 20; left > 0; left -= 1) {
    const isDone = await unlessRefused(() =>
      ledger.sql.begin(async (tx) => {
        await tx`delete from timeline_entries where user_id = ${person.userId}`;
        await tx`delete from users where id = ${person.userId}`;
        return true;
      }),
    );
    if (isDone) return;
  }
  throw new Error("An owner could not be deleted");
}

async function look({ sql }: Ledger): Promise<void> {
  await sql`select public.weekly_performance_week(${WEEK.start}::text::timestamptz, ${WEEK.end}::text::timestamptz)`;
}

async function take(world: World, step: Step): Promise<void> {
  const worker = "worker" in step ? world.workers[step.worker]! : world.workers[0]!;
  const person = "person" in step ? world.people[step.person]! : world.people[0]!;
  const held = "at" in step ? worker.held.at(step.at % Math.max(worker.held.length, 1)) : undefined;
  const claimed = worker.reports.find((one) => one.person === person);
  if (step.do === "claimReport") await claimReport(world, worker, person, crypto.randomUUID());
  else if (step.do === "claimAgain" && claimed) await claimReport(world, worker, person, claimed.token);
  else if (step.do === "persist") await persist(world, worker, person);
  else if (step.do === "failReport" && claimed)
    await unlessRefused(() => world.ledger.failReport(claimed.claim, "social_retry"));
  else if (step.do === "otherVersion") await otherVersion(world, person);
  else if (step.do === "claimDelivery") await claimDelivery(world, worker, person, step);
  else if (step.do === "claimDeliveryAgain" && held) await claimDeliveryAgain(world, worker, held);
  else if (step.do === "dispatch" && held) await dispatch(world, held);
  else if (step.do === "send" && held) send(world, held, step.answer);
  else if (step.do === "settle" && held) await settle(world, worker, held);
  else if (step.do === "die") die(world, worker);
  else if (step.do === "reconcile") await reconcile(world, person, step.channel);
  else if (step.do === "erase" && !person.isErased) await erase(world, person);
  else if (step.do === "look") await look(world.ledger);
  else if (step.do === "wait")
    await world.ledger.sql`update test_clock set shows = shows + ${`${step.minutes} minutes`}::interval`;
}

/** No message arrives twice, and each that arrived is sent or unknown in the ledger. */
async function check({ ledger, people }: World): Promise<void> {
  const rows = await ledger.sql<postgres.Row[]>`
    select user_id, channel, provider_message_id, weekly_performance_delivery_state(
      status, dispatched_at, lease_expires_at, weekly_performance_now()) as state
    from weekly_performance_deliveries`;
  for (const person of people)
    for (const name of CHANNELS) {
      const { arrived } = person.messages[name];
      expect(arrived.length).toBeLessThanOrEqual(1);
      const mine = rows.filter((row) => row.user_id === person.userId && row.channel === name);
      for (const row of mine.filter(({ state }) => state === "sent"))
        expect(row.provider_message_id).toBe(arrived[0]);
      if (arrived.length === 1 && !person.isErased)
        expect(mine.some(({ state }) => ["sent", "unknown", "running"].includes(state))).toBe(true);
    }
}

describeLedger("claims, sends, leases, erasure and reconciliation in any order", (ledger) => {
  test("send nothing twice and forget nothing that was sent", async () => {
    await ledger.sql`create table if not exists test_clock (shows timestamptz)`;
    await ledger.sql`insert into test_clock values (now())`;
    await ledger.sql.unsafe(`
      create or replace function public.weekly_performance_now() returns timestamptz language sql stable
      set search_path = pg_catalog, pg_temp as 'select shows from public.test_clock'`);
    let sends = 0;
    await assertInDatabase(
      fc.asyncProperty(fc.array(together, { minLength: 40, maxLength: 80, size: "max" }), async (rounds) => {
        const world = await newWorld(ledger);
        for (const round of rounds) {
          await Promise.all(round.map((one) => take(world, one)));
          await check(world);
        }
        sends += world.sends;
      }),
      { numRuns: 30 },
    );
    expect(sends).toBeGreaterThan(10);
  });
});

import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { Scripted } from "../../standins/standin.ts";
import { assertInDatabase } from "../../support/property.ts";
import { type SeededOwner, seedOwner, WEEK } from "../../support/seed.ts";
import { sharedWeekly, startOver } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

const pick = <const T>(...values: T[]) => fc.constantFrom(...values);

/** What the peers return for one owner, the same in every run, and what other runs have left of the owner's rows. */
const ownerArbitrary = fc.record({
  phone: pick(true, true, true, true, false),
  email: pick(true, true, true, true, false),
  analysis: fc.array(pick(200, 200, 403), { maxLength: 2 }),
  whatsapp: pick("sent", "sent", "sent", "sent", "refused", "unknown"),
  mail: pick("sent", "sent", "sent", "sent", "refused", "unknown"),
  left: pick(
    "nothing",
    "nothing",
    "nothing",
    "nothing",
    "a report that is made",
    "a delivery that is sent",
    "a delivery of a dead process",
    "a message without its entry",
  ),
  isSuspended: pick(false, false, false, true),
});

type OwnerCase = typeof ownerArbitrary extends fc.Arbitrary<infer T> ? T : never;

/** A run in between: it leaves something out, and writes no heartbeat. */
const betweenArbitrary = pick<Partial<WeeklyOptions>[]>(
  [],
  [{ skipWhatsapp: true }],
  [{ skipEmail: true, skipEditorials: true }],
  [{ dryRun: true }],
);

const weekArbitrary = fc.record({
  owners: fc.array(ownerArbitrary, { maxLength: 4 }),
  between: betweenArbitrary,
  isApplicationBroken: pick(false, false, true),
});

const answers = {
  sent: undefined,
  refused: { status: 404, json: { name: "not_found" } },
  unknown: { status: 502, text: "Bad Gateway" },
} as const;

/** Seeds the owner, and makes the peers answer for it as its case says. */
async function settle(weekly: WeeklyFixture, one: OwnerCase): Promise<SeededOwner> {
  const owner = await seedOwner(weekly.db.sql, {
    networks: ["instagram", "linkedin"].slice(0, one.analysis.length),
    ...(one.phone ? {} : { phone: null }),
    ...(one.email ? {} : { email: null }),
  });
  const { application, gateway, email } = weekly;
  const add = (route: typeof gateway.routes.send, key: string, answer: Scripted | undefined) => {
    const rest = route.scriptByBody;
    route.scriptByBody = (entry) => (entry.rawBody.includes(key) ? answer : rest?.(entry));
  };
  one.analysis.forEach((status, index) => {
    if (status !== 200) add(application.routes.analysis, owner.connections[index]!.id, { status });
  });
  if (owner.phone) add(gateway.routes.send, owner.phone.replace(/\D/g, ""), answers[one.whatsapp]);
  if (owner.email) add(email.routes.send, owner.email, answers[one.mail]);
  return owner;
}

const needsRun = ({ left, isSuspended }: OwnerCase) =>
  isSuspended || (left !== "nothing" && left !== "a report that is made");

/** Leaves the rows of another process, alive or dead, from before the first run of this one. */
async function leave({ db }: WeeklyFixture, owner: SeededOwner, { left }: OwnerCase): Promise<void> {
  const { sql } = db;
  const minutes = left === "a delivery of a dead process" ? 0 : 5;
  if (left === "nothing") return;
  if (left === "a report that is made") {
    await sql`
      insert into weekly_performance_reports
        (id, tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at)
      values (${randomUUID()}, ${owner.tenantId}, ${owner.userId}, ${WEEK.start}, ${WEEK.end}, 1, 'running',
              gen_random_uuid(), weekly_performance_now() + interval '20 minutes')
      on conflict do nothing`;
    return;
  }
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    if (left === "a message without its entry")
      await tx`
        update weekly_performance_deliveries set error_code = 'timeline_entry_failed'
        where user_id = ${owner.userId} and channel = 'whatsapp' and status = 'sent'`;
    else
      await tx`
        update weekly_performance_deliveries
        set status = 'running', provider_message_id = null, settled_at = null, error_code = null,
            sender_tenant_id = gen_random_uuid(), masked_hint = '4321',
            dispatched_at = weekly_performance_now() - interval '10 minutes',
            lease_expires_at = weekly_performance_now() + ${minutes} * interval '1 minute'
        where user_id = ${owner.userId} and channel = 'whatsapp'`;
  });
}

test("a rerun without new events never turns a non-zero exit into zero, nor a success into a failure", async () => {
  const weekly = shared();
  await assertInDatabase(
    fc
      .asyncProperty(weekArbitrary, async ({ owners, between, isApplicationBroken }) => {
        const { sql } = weekly.db;
        const seeded = new Map<SeededOwner, OwnerCase>();
        if (isApplicationBroken) weekly.application.routes.analysis.script = () => ({ status: 403 });
        for (const one of owners) seeded.set(await settle(weekly, one), one);
        // Rows that only a run leaves need one first. After `leave` nothing new happens.
        if (owners.some(needsRun)) await weekly.run({ concurrency: 2 });
        for (const [owner, one] of seeded) await leave(weekly, owner, one);
        for (const [owner, one] of seeded)
          if (one.isSuspended)
            await sql`update credit_wallets set status = 'suspended' where tenant_id = ${owner.tenantId}`;

        const first = await weekly.run();
        for (const options of between) await weekly.run(options);
        const second = await weekly.run();
        const third = await weekly.run();

        expect([second.exitCode, third.exitCode]).toEqual([first.exitCode, first.exitCode]);
        expect([second.heartbeat, third.heartbeat]).toEqual([first.heartbeat, first.heartbeat]);
        expect(third.week).toEqual(first.week);
        // No message is ever sent twice on the way.
        const numbers = weekly.gateway.accepted.map(({ number }) => number);
        expect(new Set(numbers).size).toBe(numbers.length);
      })
      .beforeEach(() => startOver(shared())),
    { numRuns: Number(process.env.VERDICT_RUNS ?? 15) },
  );
});

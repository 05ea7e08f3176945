import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { forgetLedger } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();

describe("runWeekly() on a ledger that was restored from a backup, or copied before it was written", () => {
  test("asks for no second e-mail: the provider knows each under the same key, with the same body", async () => {
    const weekly = shared();
    for (let n = 0; n < 3; n += 1) await seedOwner(weekly.db.sql);
    await weekly.run({ skipWhatsapp: true });
    const ids = weekly.email.accepted.map(({ id }) => id);
    await forgetLedger(weekly);

    expect(await weekly.run({ skipWhatsapp: true })).toMatchObject({ exitCode: 0, email: { sent: 3 } });
    expect(weekly.email.accepted.map(({ id }) => id)).toEqual(ids);
    const rows = await weekly.db.sql`select provider_message_id from weekly_performance_deliveries`;
    expect(rows.map((row) => row.provider_message_id).sort()).toEqual(ids.sort());
  });

  test("leaves an e-mail unknown, and sends it to nobody, when it would say something else by now", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    await weekly.run({ skipWhatsapp: true });
    await forgetLedger(weekly);
    await weekly.db.sql`update tenants set name = 'Another name'`;

    expect(await weekly.run({ skipWhatsapp: true })).toMatchObject({
      exitCode: 1,
      email: { sent: 0, unknown: 1 },
      failures: [{ step: "email", code: "invalid_idempotent_request" }],
    });
    expect(weekly.email.accepted).toHaveLength(1);
  });

  test("sends an e-mail to another address: a copy for staging is not in the way of the real run", async () => {
    const weekly = shared();
    const { userId } = await seedOwner(weekly.db.sql);
    await weekly.run({ skipWhatsapp: true });
    await forgetLedger(weekly);
    await weekly.db.sql`update users set email = 'somebody@staging.example' where id = ${userId}`;

    expect(await weekly.run({ skipWhatsapp: true })).toMatchObject({ exitCode: 0, email: { sent: 1 } });
    expect(weekly.email.accepted.at(-1)!.to).toEqual(["somebody@staging.example"]);
    expect(weekly.email.accepted).toHaveLength(2);
  });
});

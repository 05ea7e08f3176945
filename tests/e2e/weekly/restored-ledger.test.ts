import { describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { seedOwner } from "../../support/seed.ts";
import { forgetLedger } from "../../weekly/support/ledger.ts";
import { openFixture } from "../support/fixture.ts";

const REFUSED = { status: "not_ready", exitCode: 3, error: { code: "LEDGER_WENT_BACK" } };

describe("a ledger that was restored from a backup after the messages went out", () => {
  test("is noticed by each further run and dry run, and nothing is sent again until a person decides", async () => {
    await using fixture = await openFixture();
    for (let n = 0; n < 2; n += 1) await seedOwner(fixture.db.sql);
    expect((await fixture.weekly()).exitCode).toBe(0);
    await forgetLedger(fixture);
    const record = join(fixture.logDir, LAST_RUN_FILE);

    // A run that could not begin, as while the backup is read in, forgets nothing.
    const { name } = fixture.db;
    await fixture.db.sql.unsafe(`revoke connect on database ${name} from public`);
    expect((await fixture.weekly(["--json"])).summary).toMatchObject({ status: "not_ready", window: null });
    await fixture.db.sql.unsafe(`grant connect on database ${name} to public`);
    const refused = (await fixture.weekly(["--json"])).summary;
    expect(refused).toMatchObject(REFUSED);
    expect(refused.error!.message).toContain("counted 2 WhatsApp messages of this week as sent");
    expect(refused.error!.hint).toContain(record);
    for (const args of [[], ["--dry-run"], ["--without-social"], ["--skip-email"]])
      expect((await fixture.weekly(["--json", ...args])).summary, args.join()).toMatchObject(REFUSED);
    expect(fixture.gateway.accepted).toHaveLength(2);

    expect((await fixture.weekly(["--json", "--skip-whatsapp"])).summary).toMatchObject({
      exitCode: 0,
      email: { sent: 2 },
    });
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([2, 2]);
    expect((await fixture.weekly(["--json"])).summary).toMatchObject(REFUSED);

    rmSync(record);
    expect((await fixture.weekly(["--json"])).summary).toMatchObject({ exitCode: 0, whatsapp: { sent: 2 } });
    expect(existsSync(record)).toBe(true);
    expect((await fixture.weekly()).exitCode).toBe(0);
  });

  test("is no ledger from which the application has deleted an owner", async () => {
    await using fixture = await openFixture();
    const [gone] = [await seedOwner(fixture.db.sql), await seedOwner(fixture.db.sql)];
    await fixture.weekly();
    const { sql } = fixture.db;
    for (const table of ["timeline_entries", "social_channel_analyses", "social_account_scores"])
      await sql.unsafe(`delete from ${table} where user_id = '${gone.userId}'`);
    for (const table of ["social_connections", "resend_email_sends"])
      await sql.unsafe(`delete from ${table} where user_id = '${gone.userId}'`);
    await sql`delete from users where id = ${gone.userId}`;

    expect((await fixture.weekly(["--json"])).summary).toMatchObject({
      exitCode: 0,
      whatsapp: { reused: 1 },
    });
  });
});

import { expect, test } from "bun:test";
import { PAGE_GRANT, readPageAccess } from "../../../lib/doctor/facts/page-access.ts";
import { sharedPostgres } from "../../support/postgres.ts";

test("readPageAccess() finds nothing after the migrations, and PAGE_GRANT mends both too much and too little", async () => {
  const { sql, drop } = await (await sharedPostgres()).createDatabase();
  const asMeant = { tooMuch: [], tooLittle: [] };
  try {
    expect(await readPageAccess(sql)).toEqual(asMeant);
    await sql`grant select on all tables in schema public to authenticated`;
    expect(await readPageAccess(sql)).toEqual({
      tooMuch: [
        ...["claim_token", "lease_expires_at", "attempts", "fingerprint", "evidence"],
        ...["error_code", "created_at", "updated_at"],
      ],
      tooLittle: [],
    });
    await sql.unsafe(PAGE_GRANT).simple();
    expect(await readPageAccess(sql)).toEqual(asMeant);
    await sql`revoke select (payload, status) on weekly_performance_reports from authenticated`;
    expect(await readPageAccess(sql)).toEqual({ tooMuch: [], tooLittle: ["status", "payload"] });
    await sql`grant select on weekly_performance_reports to public`;
    expect((await readPageAccess(sql)).tooMuch).toContain("claim_token");
    await sql.unsafe(PAGE_GRANT).simple();
    expect(await readPageAccess(sql)).toEqual(asMeant);
  } finally {
    await drop();
  }
});

test("readPageAccess() on a database without the table finds nothing", async () => {
  const { sql, drop } = await (await sharedPostgres()).createDatabase({ migrated: false, appSchema: false });
  expect(await readPageAccess(sql)).toEqual({ tooMuch: [], tooLittle: [] });
  await drop();
});

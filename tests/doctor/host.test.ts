/** What doctor judges of the host and of the database, each on one host. */
import { describe, expect, test } from "bun:test";
import { type Host, openHost, zoneFile } from "./support/host.ts";

const codesOf = async (host: Host, command: "weekly" | "migrate", check: string) =>
  (await host.examine(command)).filter((one) => one.check === check).map(({ code }) => code);

test("doctor takes a zone for UTC by its rule for the whole year, and no other file for a zone", async () => {
  await using host = await openHost();
  const judged: Record<string, unknown> = {};
  const rules = ["UTC0", "GMT0", "<+00>0", "<-00>-00:00"];
  const others = ["<-03>3", "GMT0BST,M3.5.0/1,M10.5.0", "EST5EDT,M3.2.0,M11.1.0", "<+1345>-13:45", ""];
  for (const rule of [...rules, ...others]) {
    host.put("localtime", Buffer.from(zoneFile(rule), "latin1"));
    judged[rule] = await codesOf(host, "weekly", "host time zone");
  }
  host.put("localtime", "\nUTC0\n");
  judged.file = await codesOf(host, "weekly", "host time zone");
  const expected = [
    ...rules.map((rule) => [rule, [null]]),
    ...others.map((rule) => [rule, ["TIME_ZONE_NOT_UTC"]]),
  ];
  expect(judged).toEqual({ ...Object.fromEntries(expected), file: ["TIME_ZONE_NOT_UTC"] });
});

describe("the SQL that doctor advises", () => {
  test("gives the page what it reads, and takes the rest from it", async () => {
    await using host = await openHost();
    const sql = host.db.sql;
    const found = async () =>
      (await host.examine("migrate")).find(({ code }) => code === "PAGE_GRANT_DIFFERS");
    expect(await found()).toBeUndefined();
    await sql`grant select on all tables in schema public to authenticated`;
    const { reason, fix } = (await found())!;
    expect(reason).toContain(
      "may read claim_token, lease_expires_at, attempts, fingerprint, evidence, error_code, created_at, updated_at",
    );
    await sql.unsafe(fix!.command!).simple();
    expect(await found()).toBeUndefined();
    await sql`revoke select (payload, status) on weekly_performance_reports from authenticated`;
    expect((await found())!.reason).toContain("may not read status, payload");
    await sql`grant select on weekly_performance_reports to public`;
    expect((await found())!.reason).toContain("may read claim_token");
    await sql.unsafe(fix!.command!).simple();
    expect(await found()).toBeUndefined();
  });
});

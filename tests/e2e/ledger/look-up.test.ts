import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { MONDAY, seedOwner } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

const READ_KEY = "re_canary_read_key_77aa01";
const LOOK_UP = ["deliveries", "look-up"];

/** One owner whose message and e-mail have an unknown result; the sending key may not read. */
async function openUnknownFixture(): Promise<Fixture> {
  const fixture = await openFixture({ email: { sendsOnly: true, readKey: READ_KEY } });
  fixture.secret("EMAIL_READ_API_KEY", READ_KEY);
  await seedOwner(fixture.db.sql, { phone: "+55 (11) 98765-4321", email: "fulana@client.example" });
  for (const peer of [fixture.gateway, fixture.email]) {
    peer.now = () => new Date(Date.parse(MONDAY) + 2_000);
    peer.routes.send.next({ accept: "drop" });
  }
  const { summary } = await fixture.weekly(["--json"]);
  expect(summary).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, email: { unknown: 1 } });
  return fixture;
}

/** What the last-run file says about the week. */
const openIn = ({ logDir }: Fixture) =>
  JSON.parse(readFileSync(join(logDir, LAST_RUN_FILE), "utf8")).week as {
    whatsapp: Record<string, number>;
    email: Record<string, number>;
  };

const sendsOf = ({ gateway, email }: Fixture) =>
  gateway.routes.send.calls.length + email.routes.send.calls.length;

describe.concurrent("opsctl deliveries look-up", () => {
  test("finds what is unknown, changes nothing, then settles it; nothing is ever sent", async () => {
    await using fixture = await openUnknownFixture();
    const before = await databaseSnapshot(fixture.db.sql);

    const found = await fixture.opsctl([...LOOK_UP, "--all", "--json"]);
    expect(found.json, found.stderr).toMatchObject({
      command: "deliveries look-up",
      status: "success",
      exitCode: 0,
      counts: { found: 2, settled: 0, notFound: 0, notUnique: 0, couldNotBeAsked: 0, notInDoubt: 0 },
      error: null,
    });
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);

    expect(openIn(fixture)).toMatchObject({
      whatsapp: { unknown: 1, sent: 0 },
      email: { unknown: 1, sent: 0 },
    });
    const ids = (found.json.lookUps as { id: string }[]).map(({ id }) => id);
    const settled = await fixture.opsctl([...LOOK_UP, ...ids, "--settle", "--actor", "ana"]);
    expect(settled.exitCode, settled.stderr).toBe(0);
    expect(settled.stdout).toContain("2 found (2 settled as sent).");
    for (const id of ids) expect(settled.stdout).toContain(id);
    expect(openIn(fixture)).toMatchObject({
      whatsapp: { unknown: 0, sent: 1 },
      email: { unknown: 0, sent: 1 },
    });
    const again = await fixture.opsctl([...LOOK_UP, "--all", "--settle", "--json"]);
    expect(again.json).toMatchObject({ exitCode: 0, lookUps: [] });

    expect(sendsOf(fixture)).toBe(2);
    const next = await fixture.weekly(["--json"]);
    expect(next.summary).toMatchObject({ exitCode: 0, whatsapp: { reused: 1 }, email: { reused: 1 } });
    expect(sendsOf(fixture)).toBe(2);
    const [entry] = await fixture.db.sql`select count(*)::int as count from timeline_entries`;
    expect(entry!.count).toBe(1);
    const output = [found, settled, again].map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(output).not.toMatch(/987654321|98765|fulana|canary|@/);
  });
});

describe.concurrent("opsctl deliveries look-up that cannot ask", () => {
  test("ends with 1 while one could not be asked, and without its settings", async () => {
    await using fixture = await openUnknownFixture();
    fixture.secret("EMAIL_READ_API_KEY", "");
    const restricted = await fixture.opsctl([...LOOK_UP, "--all", "--settle"]);
    expect(restricted.exitCode).toBe(1);
    expect(restricted.stdout).toContain("restricted_api_key: the key may only send. Set EMAIL_READ_API_KEY");
    expect(restricted.stdout).toContain("1 found (1 settled as sent), 1 could not be asked.");
    const env = { EMAIL_API_URL: undefined, GATEWAY_URL: undefined };
    fixture.secret("EMAIL_API_KEY", "");
    const bare = await fixture.opsctl([...LOOK_UP, "--all", "--json"], { env });
    expect(bare.json).toMatchObject({
      status: "failed",
      exitCode: 1,
      lookUps: [{ channel: "email", status: "could_not_be_asked", code: "email_not_configured" }],
    });
  });
});

describe.concurrent("opsctl deliveries look-up", () => {
  test("refuses what is no question, with 2, and what is not there, with 1", async () => {
    await using fixture = await openUnknownFixture();
    const wrong = [[], ["--all", crypto.randomUUID()], ["x"], [crypto.randomUUID(), "--actor", "ana"]];
    for (const args of wrong)
      expect(await fixture.opsctl([...LOOK_UP, ...args])).toMatchObject({ exitCode: 2, stdout: "" });
    const gone = await fixture.opsctl([...LOOK_UP, crypto.randomUUID(), "--json"]);
    expect(gone.json).toMatchObject({ exitCode: 1, error: { code: "DELIVERY_NOT_FOUND" } });
    const actor = await fixture.opsctl([...LOOK_UP, "--all", "--settle", "--actor", "a@b.example", "--json"]);
    expect(actor.json).toMatchObject({ exitCode: 2, error: { code: "RECONCILE_INVALID" } });
  });

  test("is ended by a signal with its result", async () => {
    await using fixture = await openUnknownFixture();
    fixture.gateway.routes.messages.script = () => "hang";
    const running = await fixture.start([...LOOK_UP, "--all", "--json"]);
    await until("the gateway is asked", () => fixture.gateway.routes.messages.calls.length > 0);
    running.kill("SIGINT");
    const { json } = await running.ended;
    expect(json).toMatchObject({ exitCode: 1, counts: { found: 1, couldNotBeAsked: 1 } });
    expect(json.lookUps).toContainEqual(
      expect.objectContaining({ channel: "whatsapp", code: "look_up_interrupted" }),
    );
  });
});

describe.concurrent("opsctl deliveries repair", () => {
  test("writes missing entries, and ends with 1 while the timeline refuses them", async () => {
    await using fixture = await openFixture();
    const { sql } = fixture.db;
    await seedOwner(sql);
    await sql`alter table timeline_entries add constraint no_entries check (false) not valid`;
    expect((await fixture.weekly(["--json"])).summary).toMatchObject({
      exitCode: 1,
      whatsapp: { partial: 1 },
    });
    const refused = await fixture.opsctl(["deliveries", "repair", "--json"]);
    expect(refused.json).toMatchObject({
      command: "deliveries repair",
      status: "failed",
      exitCode: 1,
      repaired: 0,
      failed: 1,
      remaining: 0,
      error: null,
    });
    expect(openIn(fixture)).toMatchObject({ whatsapp: { partial: 1, sent: 0 } });
    await sql`alter table timeline_entries drop constraint no_entries`;
    const repaired = await fixture.opsctl(["deliveries", "repair"]);
    expect(repaired).toMatchObject({ exitCode: 0, stdout: "1 written, 0 failed.\n" });
    expect(openIn(fixture)).toMatchObject({ whatsapp: { partial: 0, sent: 1 } });
    const [row] = await sql`select count(*)::int as count from timeline_entries`;
    expect(row!.count).toBe(1);
  });
});

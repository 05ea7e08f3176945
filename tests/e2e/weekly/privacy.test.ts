import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry, Scripted } from "../../standins/standin.ts";
import { CANARIES } from "../../support/canaries.ts";
import { PASSWORD } from "../../support/postgres.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { closedBarrier } from "../support/barrier.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import type { Ended } from "../support/opsctl.ts";
import { commandLineOf, processTree } from "../support/process-facts.ts";

const PHONES = ["+55 (11) 98765-4321", "11 91234-5678", "+55 21 99876 5432"];
const ADDRESSES = [
  "fulana.canary@client-canary.example",
  "b@outro-canary.example",
  "c.d+e@sub.canary.example",
];
const NAME = "Canary & Filhos <b>Ltda</b>";

/** Every form in which a private value could appear. */
function privateTexts(): string[] {
  const numbers = PHONES.flatMap((phone) => {
    const digits = phone.replace(/\D/g, "").replace(/^55/, "");
    const local = digits.slice(2);
    const dashed = `${local.slice(0, -4)}-${local.slice(-4)}`;
    return [phone, `55${digits}`, digits, local, dashed, dashed.replace("-", " ")];
  });
  const addresses = ADDRESSES.flatMap((address) => [address, encodeURIComponent(address)]);
  const secrets = [...Object.values(CANARIES), PASSWORD];
  const encoded = secrets.map((secret) => Buffer.from(secret).toString("base64").replace(/=+$/, ""));
  const html = ["<!doctype", "<html", "<table", "</td>", "&lt;table", "\\u003ctable"];
  return [...numbers, ...addresses, ...secrets, ...encoded, ...html];
}

function expectPrivate(place: string, text: string): void {
  const seen = privateTexts().filter((needle) => text.toLowerCase().includes(needle.toLowerCase()));
  expect(seen, place).toEqual([]);
}

async function ownTables(fixture: Fixture): Promise<string> {
  const tables = [
    "weekly_performance_reports",
    "weekly_performance_deliveries",
    "weekly_performance_reconciliations",
    "opsctl_migrations",
    // Not opsctl's own, but written by it.
    "timeline_entries",
  ];
  const rows = await Promise.all(
    tables.map((table) => fixture.db.sql`select to_jsonb(x)::text as row from ${fixture.db.sql(table)} as x`),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join("\n");
}

async function expectNothingPrivate(fixture: Fixture, ended: Ended): Promise<void> {
  expectPrivate("standard output", ended.stdout);
  expectPrivate("the log", ended.stderr);
  expectPrivate("the tables", await ownTables(fixture));
  expectPrivate("the heartbeat", existsSync(fixture.heartbeat.path) ? fixture.heartbeat.read() : "");
}

async function seedPeople(fixture: Fixture): Promise<SeededOwner[]> {
  const owners = [];
  for (const [i, phone] of PHONES.entries()) {
    owners.push(await seedOwner(fixture.db.sql, { phone, email: ADDRESSES[i]!, tenantName: NAME }));
  }
  return owners;
}

/** An answer that repeats all that the peer was sent, in every place that a careless client might log. */
function echo(status: number): (entry: LedgerEntry) => Scripted {
  return ({ headers, rawBody, path }) => {
    const all = `${JSON.stringify(headers)} ${rawBody} ${PASSWORD} ${path}`;
    const json = { name: all, message: all, error: all, code: all, id: null, response: { message: [all] } };
    const short = { "x-request-id": (headers.authorization ?? headers.apikey ?? "").slice(0, 100) };
    return {
      status,
      json: { ...json, nextCursor: all, reasonStopped: all, truncated: "yes" },
      headers: short,
    };
  };
}

const DEBUG = { OPSCTL_LOG_LEVEL: "debug" };

describe.concurrent("what opsctl weekly shows and stores", () => {
  test("a successful run shows nothing private, and its processes carry it in no command line", async () => {
    await using fixture = await openFixture({ editorials: true });
    await seedPeople(fixture);
    const witness = join(fixture.folder, "children");
    const command = join(fixture.folder, "vault-client");
    // The vault's client is the one child of a run: it writes down how it was called.
    const script = `#!/bin/sh\ntr '\\0' ' ' < /proc/$$/cmdline >> ${witness}\ncat "${fixture.secretsDir}/$1"\n`;
    writeFileSync(command, script, { mode: 0o700 });
    const analyze = fixture.onAnalyze;
    const barrier = closedBarrier();
    fixture.onAnalyze = (body) => barrier.pass().then(() => analyze(body));
    const env = { ...DEBUG, OPSCTL_SECRETS_COMMAND: command, OPSCTL_SECRETS_DIR: fixture.logDir };

    const running = await fixture.start(["weekly", "--json"], { env });
    await barrier.reachedBy(running);
    const commandLines = processTree(running.pid).map(commandLineOf).join("\n");
    barrier.open();
    const ended = await running.ended;

    expect(ended.summary).toMatchObject({ exitCode: 0, whatsapp: { sent: 3 }, email: { sent: 3 } });
    expect(ended.stderr).toContain('"level":"debug"');
    expect(commandLines).toContain("weekly --json");
    expectPrivate("the process list", commandLines);
    expect(readFileSync(witness, "utf8")).toContain("TRIGGER_SECRET");
    expectPrivate("the children's command lines", readFileSync(witness, "utf8"));
    await expectNothingPrivate(fixture, ended);
    const hints = await fixture.db.sql`
      select channel || ' ' || masked_hint as hint from weekly_performance_deliveries order by 1`;
    expect(hints.map(({ hint }) => hint)).toEqual([
      "email b***@outro-canary.example",
      "email c***@sub.canary.example",
      "email f***@client-canary.example",
      "whatsapp 4321",
      "whatsapp 5432",
      "whatsapp 5678",
    ]);
  });
});

/**
 * An answer taken for a success, one that ends the run, one that fails a send, one that leaves it in doubt; the other
 * statuses are those of `weekly/privacy.test.ts`.
 */
const STATUSES = [200, 401, 422, 500];

describe.concurrent("what opsctl weekly shows and stores when external services echo all that they get", () => {
  test.each(STATUSES)(
    "nothing private is shown or stored when services echo requests with status %d",
    async (status) => {
      await using fixture = await openFixture({ editorials: true });
      await seedPeople(fixture);
      const { application, gateway, email } = fixture;
      // The analysis too, unless the status refuses the worker: then nothing would be sent.
      if (status !== 401) application.routes.analysis.script = echo(status);
      for (const route of [application.routes.editorial, gateway.routes.send, email.routes.send]) {
        route.script = echo(status);
      }

      const json = await fixture.weekly(["--json", "--patience", "0"], { env: DEBUG });

      expect(json.exitCode).toBe(1);
      expect(json.summary.whatsapp.sent + json.summary.email.sent).toBe(0);
      expect(gateway.routes.send.calls.length + email.routes.send.calls.length).toBeGreaterThan(0);
      await expectNothingPrivate(fixture, json);
      const forPeople = await fixture.weekly(["--patience", "0"], { env: DEBUG });
      expect(forPeople.exitCode).toBe(1);
      await expectNothingPrivate(fixture, forPeople);
    },
  );

  test("an id of a message that echoes its request is not stored", async () => {
    await using fixture = await openFixture();
    const [owner] = await seedPeople(fixture);
    const { gateway, email } = fixture;
    gateway.routes.send.script = ({ rawBody }) => ({ status: 201, json: { key: { id: rawBody } } });
    email.routes.send.script = () => ({ status: 200, json: { id: `<table> ${owner!.email} </td>` } });

    const ended = await fixture.weekly(["--json"], { env: DEBUG });

    await expectNothingPrivate(fixture, ended);
  });

  test("nothing private of an editorial answer is shown or stored", async () => {
    await using fixture = await openFixture({ editorials: true });
    await seedPeople(fixture);
    const text = `${PHONES[0]} ${ADDRESSES[0]} ${CANARIES.TRIGGER_SECRET} <table>`;
    const stalled = { truncated: true, nextCursor: text, reasonStopped: text, llmCalls: 0 };
    const failures = [{ tenantId: text, code: text }];
    fixture.application.editorials.push({ ...stalled, failures }, stalled, stalled, stalled);

    const ended = await fixture.weekly(["--json"], { env: DEBUG });

    expect(ended.summary.editorials.code).toBe("SOCIAL_EDITORIALS_NO_PROGRESS");
    await expectNothingPrivate(fixture, ended);
  });

  test("nothing private of a database error is shown or stored", async () => {
    await using fixture = await openFixture();
    await seedPeople(fixture);
    const { sql } = fixture.db;
    // Quotes the row, and so the phone, in message and detail.
    await sql.unsafe(`
      create function public.tell_all() returns trigger language plpgsql as $$ begin
        raise exception using message = 'about ${PHONES[0]} ${ADDRESSES[0]} <table>', detail = new::text,
          errcode = 'check_violation';
      end $$;
      create trigger tell_all before insert on public.weekly_performance_deliveries
        for each row execute function public.tell_all()`);

    const ended = await fixture.weekly(["--json"], { env: DEBUG });

    expect(ended.summary).toMatchObject({ exitCode: 1, whatsapp: { failed: 3 }, email: { failed: 3 } });
    await expectNothingPrivate(fixture, ended);
  });
});

test("expectPrivate() sees a number however it is written", () => {
  for (const text of [
    "tel 5511987654321.",
    "(11) 98765-4321",
    "98765 4321",
    "FULANA.CANARY@client-canary.example",
  ]) {
    expect(() => expectPrivate("here", text)).toThrow("here");
  }
  expectPrivate("here", "whatsapp 4321, f***@client-canary.example");
});

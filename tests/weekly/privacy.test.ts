import { describe, expect, test } from "bun:test";
import type { Answer, Route, Scripted } from "../standins/standin.ts";
import { CANARIES } from "../support/canaries.ts";
import { PASSWORD } from "../support/postgres.ts";
import { seedOwner } from "../support/seed.ts";
import { sharedWeekly } from "./support/shared-weekly.ts";
import { recordingLog, type WeeklyFixture, weeklyFixture } from "./support/weekly-fixture.ts";

const PHONE = "+55 (11) 98765-4321";
const EMAIL = "fulana.canary@client-canary.example";
const NAME = "Fulana Canary";
const HTML = "<b>canary-markup</b>";

/** None of these may be seen anywhere but in the requests to the peers. */
const PRIVATE = [
  PHONE,
  "5511987654321",
  "11987654321",
  "(11) 98765-4321",
  "11 98765-4321",
  "98765-4321",
  "987654321",
  EMAIL,
  "fulana.canary",
  NAME,
  HTML,
  "canary-markup",
  "<!doctype",
  "<table",
  "Leitura da semana",
  PASSWORD,
  ...Object.values(CANARIES),
];

/** A peer's answer that repeats everything it was told. */
function echo(status: number, more: Record<string, unknown> = {}): Answer {
  const everything = `${PHONE} 5511987654321 ${EMAIL} ${NAME} ${HTML} ${Object.values(CANARIES).join(" ")}`;
  const message = { message: everything, number: "5511987654321", jid: "5511987654321@s.whatsapp.net" };
  return {
    status,
    json: { statusCode: status, name: everything, error: everything, ...message, response: message, ...more },
    headers: { "x-request-id": encodeURIComponent(everything), "x-canary": "canary-markup" },
  };
}

type Scenario = (weekly: WeeklyFixture) => Promise<unknown> | unknown;
/** The answer to the first call. What a queue still held would be the answer in the next test. */
function once(route: Route, answer: Scripted): void {
  route.script = () => (route.calls.length === 1 ? answer : undefined);
}

const gateway =
  (answer: Scripted): Scenario =>
  (weekly) =>
    once(weekly.gateway.routes.send, answer);
const email =
  (answer: Scripted): Scenario =>
  (weekly) =>
    once(weekly.email.routes.send, answer);
const application =
  (answer: Scripted): Scenario =>
  (weekly) =>
    once(weekly.application.routes.analysis, answer);
const editorial =
  (answer: Scripted): Scenario =>
  (weekly) =>
    once(weekly.application.routes.editorial, answer);
const all =
  (...scenarios: Scenario[]): Scenario =>
  async (weekly) => {
    for (const scenario of scenarios) await scenario(weekly);
  };
const sql =
  (text: string): Scenario =>
  (weekly) =>
    weekly.db.sql.unsafe(text);
const raising = (table: string) =>
  sql(`
    create function trap() returns trigger language plpgsql as
      $$ begin raise exception '${PHONE} ${EMAIL} ${HTML}' using detail = '${EMAIL}', hint = '${PHONE}'; end $$;
    create trigger trap before insert or update on ${table} for each row execute function trap()`);

const drained = { truncated: false, nextCursor: null, llmCalls: 0, processed: 1, skipped: 0 };

const SCENARIOS: Record<string, Scenario> = {
  "a run in which all goes well": () => {},
  ...Object.fromEntries(
    [201, 302, 400, 401, 403, 404, 408, 409, 422, 500, 503].flatMap((status) => [
      [`the application answers ${status}`, application(echo(status))],
      [
        `the others answer ${status}`,
        all(gateway(echo(status)), email(echo(status)), editorial(echo(status))),
      ],
    ]),
  ),
  "the gateway answers 201 without an id": gateway(echo(201)),
  "the gateway answers 201 with an id that is a sentence": gateway(
    echo(201, { key: { id: `Sent to ${PHONE}` } }),
  ),
  "the gateway says that the number is absent": gateway({
    status: 400,
    json: {
      response: {
        message: [{ jid: "5511987654321@s.whatsapp.net", exists: false, number: "5511987654321" }],
      },
    },
  }),
  "the gateway says that the body is wrong": gateway({
    status: 400,
    json: { response: { message: [[`number ${PHONE} is not of a type(s) string`]] } },
  }),
  "the e-mail provider answers 200 without an id": email(echo(200)),
  "the e-mail provider answers 200 with an id that is a page": email(echo(200, { id: `<p> ${HTML}` })),
  "the e-mail provider breaks off": email("break_body"),
  "the gateway breaks off after it has sent": gateway({ accept: "drop" }),
  "the application answers with a page": application("not_json"),
  "the editorial route names tenants by address": editorial({
    status: 200,
    json: {
      ...drained,
      reasonStopped: `${EMAIL} ${HTML}`,
      failures: [
        { tenantId: EMAIL, code: EMAIL },
        { tenantId: null, code: HTML },
      ],
    },
  }),
  "the editorial route's cursor is an address": editorial({
    status: 200,
    json: { ...drained, truncated: true, nextCursor: { after: EMAIL, page: HTML } },
  }),
  "the number is a sentence": sql(
    `update users set phone = 'Fulana Canary ${PHONE}' where phone is not null`,
  ),
  "the address has a name": sql(`update users set email = '${NAME} <${EMAIL}>' where email is not null`),
  "the tenant is called by number and address": sql(`update tenants set name = 'Loja ${PHONE} ${EMAIL}'`),
  "the analysis is malformed": (weekly) => {
    weekly.onAnalyze = async (body) => {
      await weekly.db.sql`
        insert into social_channel_analyses
          (tenant_id, user_id, connection_id, channel, window_start, window_end, coverage_status, metrics, reason)
        select tenant_id, user_id, id, network, ${body.windowStart}, ${body.windowEnd}, ${`${EMAIL} ${HTML}`},
               jsonb_build_object(${EMAIL}::text, ${PHONE}::text), ${PHONE}
        from social_connections where id = ${body.connectionId}`;
    };
  },
};

/** Those that change what a database has, so that each needs its own. */
const IN_DATABASE: Record<string, Scenario> = {
  "the database raises on claiming": raising("weekly_performance_reports"),
  "the database raises on delivering": raising("weekly_performance_deliveries"),
  "the database raises on the timeline": raising("timeline_entries"),
  "the evidence cannot be read": sql(
    `alter table resend_email_events rename to hidden;
     create view resend_email_events as
       select id, tenant_id, provider_email_id, ('${EMAIL}'::text || (1 / (random() * 0)::integer)) as type, occurred_at
       from hidden`,
  ),
};

/** Every row that opsctl writes, as text. */
async function dump({ db }: WeeklyFixture): Promise<string> {
  const tables = await db.sql`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and (relname like 'weekly_performance%' or relname like 'opsctl%' or relname = 'timeline_entries')`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows =
        await db.sql`select coalesce(string_agg(t::text, E'\n'), '') as text from ${db.sql(name)} as t`;
      return `${name}\n${rows[0]!.text}`;
    }),
  );
  return texts.join("\n");
}

describe("the privacy of summary, log and ledger", () => {
  const shared = sharedWeekly();
  test.each(Object.entries(SCENARIOS))(
    "no secret, number, address, name or page is in summary, log or ledger when %s",
    (_what, prepare) => expectPrivate(shared(), prepare),
  );

  test.each(Object.entries(IN_DATABASE))(
    "no secret, number, address, name or page is in summary, log or ledger when %s",
    async (_what, prepare) => {
      await using weekly = await weeklyFixture();
      await expectPrivate(weekly, prepare);
    },
  );

  async function expectPrivate(weekly: WeeklyFixture, prepare: Scenario): Promise<void> {
    weekly.timeoutsMs = { application: 5000, gateway: 5000, email: 5000 };
    await seedOwner(weekly.db.sql, { phone: PHONE, email: EMAIL, networks: ["instagram"] });
    await weekly.db.sql`update users set name = ${NAME}`;
    await prepare(weekly);
    const log = recordingLog();
    const editorials = { enabled: true, maxLlmCalls: 3, secretPresent: true };

    const outcomes = [];
    for (let run = 0; run < 2; run += 1) {
      outcomes.push(
        await weekly
          .run({ editorials }, { log })
          .catch((error: Error & { code?: string; hint?: string }) => [
            error.code,
            error.message,
            error.hint,
          ]),
      );
    }

    const seen = [JSON.stringify(outcomes), JSON.stringify(log.lines), await dump(weekly)];
    for (const text of seen) {
      const lower = text.toLowerCase();
      expect(PRIVATE.filter((canary) => lower.includes(canary.toLowerCase()))).toEqual([]);
    }
    expect(seen[2]).toContain("weekly_performance_deliveries");
  }
});

test("nothing private is in what a dry run says", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql, { phone: `Fulana Canary ${PHONE}`, email: `${NAME} <${EMAIL}>` });
  weekly.gateway.routes.state.next(echo(500));
  const log = recordingLog();
  const summary = await weekly.run({ dryRun: true }, { log });
  expect(summary.failures).toHaveLength(3);
  const text = JSON.stringify([summary, log.lines]).toLowerCase();
  expect(PRIVATE.filter((canary) => text.includes(canary.toLowerCase()))).toEqual([]);
});

test("the external services get what nobody else does", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql, { phone: PHONE, email: EMAIL });
  await weekly.run();
  expect(weekly.gateway.accepted.map(({ number }) => number)).toEqual(["5511987654321"]);
  expect(weekly.email.accepted.map(({ to }) => String(to))).toEqual([EMAIL]);
  const hints = await weekly.db.sql`
    select channel, masked_hint from weekly_performance_deliveries order by channel desc`;
  expect([...hints]).toEqual([
    { channel: "whatsapp", masked_hint: "4321" },
    { channel: "email", masked_hint: "f***@client-canary.example" },
  ]);
});

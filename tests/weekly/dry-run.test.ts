import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../lib/last-run/file-name.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import type { SetupPeers } from "../../lib/weekly/setup/peers.ts";
import { renderSummary } from "../../lib/weekly/texts/summary-text.ts";
import { isEndless, type PeerAnswer } from "../cases/answer-case.ts";
import { HOME_ANSWERS } from "../cases/application-answers.ts";
import { EMAIL_KEY_ANSWERS } from "../cases/email-answers.ts";
import { INSTANCES_ANSWERS, STATE_ANSWERS } from "../cases/gateway-answers.ts";
import { repairSetup } from "../cases/setup-faults.ts";
import type { Route } from "../standins/standin.ts";
import { databaseSnapshot } from "../support/database-snapshot.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { requires } from "../support/requires.ts";
import { newLogin } from "../support/roles.ts";
import { type SeededOwner, seedOwner, setClock } from "../support/seed.ts";
import { smallDisk } from "../support/small-disk.ts";
import { virtualTime } from "./support/virtual-time.ts";
import { setupPeersOf, type WeeklyFixture, weeklyFixture } from "./support/weekly-fixture.ts";

const DRY = { dryRun: true };

/** What each peer is asked, in alphabetical order. */
const QUESTIONS = ["GET /", "GET /domains", "GET /instance/connectionState/ops"];

/** What the peers saw: method and path of every request, in order. */
function requests({ application, gateway, email }: WeeklyFixture): string[] {
  return [application, gateway, email]
    .flatMap(({ ledger }) => ledger)
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ method, path }) => `${method} ${path}`);
}

const codes = ({ failures }: WeeklySummary) => [...new Set(failures.map(({ code }) => code))];

describe("a dry run when everything is ready", () => {
  test("says so, writes nothing anywhere and asks each external service one question", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    for (let i = 0; i < 3; i += 1) await seedOwner(db.sql);
    await weekly.run({ tenantId: (await seedOwner(db.sql)).tenantId });
    const seen = requests(weekly).length;
    const before = await databaseSnapshot(db.sql);

    const summary = await weekly.run(DRY);

    expect(summary).toMatchObject({
      dryRun: true,
      status: "ready",
      exitCode: 0,
      reports: { scopes: 4, completed: 0, reused: 0, busy: 0, failed: 0 },
      social: { calls: 0 },
      whatsapp: { sent: 0, failed: 0, skipped: 0 },
      email: { sent: 0, failed: 0, skipped: 0 },
      editorials: { status: "disabled", calls: 0 },
      heartbeat: "kept",
      failures: [],
      unproved: ["trigger_secret_unproved", "whatsapp_numbers_unproved", "email_sender_unproved"],
      error: null,
    });
    expect(Object.keys(before)).toContain("r weekly_performance_reports");
    expect(await databaseSnapshot(db.sql)).toEqual(before);
    expect(requests(weekly).slice(seen).toSorted()).toEqual(QUESTIONS);
    expect(readdirSync(weekly.logDir)).toEqual([]);
  });

  test("works on any day, also when nobody is eligible", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const ready = { status: "ready", exitCode: 0, retryableUntil: null };
    expect(await weekly.run(DRY)).toMatchObject({ status: "ready", reports: { scopes: 0 } });
    await seedOwner(sql);
    for (const clock of ["2026-11-22T12:00:00Z", "2026-11-24T03:00:00Z", "2026-11-27T23:59:59Z"]) {
      await setClock(sql, clock);
      expect(await weekly.run(DRY)).toMatchObject({ ...ready, reports: { scopes: 1 } });
    }
  });

  test("passes in a session that cannot write, where a real run cannot begin a single report", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    await seedOwner(db.sql);
    const login = await newLogin(db.sql, "grant service_role to");
    await db.sql.unsafe(`alter role ${login} set default_transaction_read_only = on`);
    const databaseUrl = (await sharedPostgres()).url(db.name, login);
    const before = await databaseSnapshot(db.sql);

    expect(await weekly.run(DRY, { databaseUrl })).toMatchObject({ status: "ready", exitCode: 0 });

    expect(await weekly.run({}, { databaseUrl, ...virtualTime() })).toMatchObject({
      status: "failed",
      exitCode: 1,
      reports: { failed: 1 },
      failures: [{ step: "report", code: "report_claim_failed" }],
      error: { code: "DATABASE_LOST" },
    });
    expect(requests(weekly).toSorted()).toEqual(QUESTIONS);
    expect(await databaseSnapshot(db.sql)).toEqual(before);
  });
});

test("a dry run of 1,200 owners looks at each of them, page by page, and names the first hundred failures", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  await sql`
    with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, 1200) as i returning id),
      w as (insert into credit_wallets (tenant_id, status) select id, 'grace' from t)
    insert into users (tenant_id, role, phone, email)
    select id, 'owner', null, 'owner@client.example' from t`;
  const last = await sql`select tenant_id as id from users order by tenant_id desc limit 1`;
  await sql`update users set email = 'nothing' where tenant_id = ${last[0]!.id}`;

  const summary = await weekly.run({
    ...DRY,
    editorials: { enabled: true, maxLlmCalls: 30, secretPresent: false },
  });

  expect(summary).toMatchObject({
    status: "not_ready",
    exitCode: 3,
    reports: { scopes: 1200 },
    whatsapp: { failed: 1200 },
    email: { failed: 1 },
    failuresTruncated: true,
  });
  expect(summary.failures).toHaveLength(100);
  // A problem of all owners is not hidden behind a problem of one.
  expect(codes(summary)).toEqual(["SOCIAL_EDITORIALS_CRON_SECRET_MISSING", "recipient_phone_missing"]);

  await sql`update users set phone = '11 98765-4321', email = 'owner@client.example'`;
  expect(await weekly.run(DRY)).toMatchObject({ status: "ready", reports: { scopes: 1200 } });
});

/** An address at which nothing listens. */
const NOWHERE = { url: "http://127.0.0.1:1" };

type Peer = "application" | "gateway" | "email";

/** A setup problem as the summary names it. */
type Problem = { step: string; code: string; cause?: string | undefined };

/** Codes of a gateway that gave no answer at all: nothing is known of the instance then. */
const SILENT = new Set(["gateway_unreachable", "gateway_timeout", "gateway_connection_lost"]);

function problemOfGateway({ code, cause }: Omit<Problem, "step">): Problem {
  const deepest = cause ?? code;
  if (!SILENT.has(deepest)) return { step: "whatsapp", code, ...(cause && { cause }) };
  const behind = deepest === "gateway_unreachable" ? {} : { cause: deepest };
  return { step: "whatsapp", code: "gateway_unreachable", ...behind };
}

describe("a dry run asks the external services themselves, and finds that", () => {
  let weekly: WeeklyFixture;
  let seeded: SeededOwner;
  beforeAll(async () => {
    weekly = await weeklyFixture();
    seeded = await seedOwner(weekly.db.sql);
  });
  beforeEach(() => repairSetup(weekly, weekly.senders, seeded));
  afterAll(() => weekly[Symbol.asyncDispose]());

  /** A dry run in which one peer gives this answer to each question on the route. */
  async function dryRunWith(peer: Peer, route: Route, answer: PeerAnswer): Promise<WeeklySummary> {
    const { application, gateway, email } = weekly;
    const peers = { application, gateway, email, ...(answer === "nobody_listens" && { [peer]: NOWHERE }) };
    // A short limit for all peers would make a busy machine look like a fault.
    const [usual, short] = [setupPeersOf(peers), setupPeersOf(peers, isEndless(answer) ? 500 : undefined)];
    const setup: SetupPeers = {
      reachApplication: (peer === "application" ? short : usual).reachApplication,
      gateway: (peer === "gateway" ? short : usual).gateway,
      checkEmailKey: (peer === "email" ? short : usual).checkEmailKey,
    };
    route.script = () => (answer === "nobody_listens" ? undefined : answer);
    const summary = await weekly.run(DRY, { setup });
    route.script = null;
    return summary;
  }

  function expectProblems(summary: WeeklySummary, problems: Problem[]): void {
    const ready = problems.length === 0;
    expect(summary).toMatchObject({ status: ready ? "ready" : "not_ready", exitCode: ready ? 0 : 3 });
    expect(summary.failures).toEqual(problems as typeof summary.failures);
    const blocked = (step: string) => (problems.some((problem) => problem.step === step) ? 1 : 0);
    expect([summary.whatsapp.failed, summary.email.failed]).toEqual([blocked("whatsapp"), blocked("email")]);
  }

  test.each(HOME_ANSWERS)("the application answers with: $name", async ({ answer, becomes }) => {
    const summary = await dryRunWith("application", weekly.application.routes.home, answer);
    const { status: _, ...problem } = becomes;
    expectProblems(
      summary,
      becomes.status === "answered" ? [] : [{ step: "readiness", ...problem } as Problem],
    );
  });

  test.each(STATE_ANSWERS)("the gateway says of the instance: $name", async ({ answer, becomes }) => {
    const summary = await dryRunWith("gateway", weekly.gateway.routes.state, answer);
    expectProblems(summary, becomes === "open" ? [] : [problemOfGateway(becomes)]);
  });

  test.each(INSTANCES_ANSWERS)(
    "the sender has no instance, and the gateway says of all instances: $name",
    async ({ answer, becomes }) => {
      await weekly.db.sql`delete from messaging_instances`;
      const summary = await dryRunWith("gateway", weekly.gateway.routes.instances, answer);
      const none = { step: "whatsapp", code: "sem_instancia_gateway", cause: "sender_instance_missing" };
      expectProblems(summary, becomes.status === "ok" ? [none] : [none, problemOfGateway(becomes)]);
    },
  );

  test.each(EMAIL_KEY_ANSWERS)("the e-mail provider says of the key: $name", async ({ answer, becomes }) => {
    const summary = await dryRunWith("email", weekly.email.routes.domains, answer);
    expectProblems(summary, becomes.status === "accepted" ? [] : [{ step: "email", code: becomes.code }]);
    expect(weekly.email.accepted).toEqual([]);
  });

  test("a key that may only send is one that the provider knows", async () => {
    await using sending = await weeklyFixture({ email: { sendsOnly: true } });
    expect(await sending.run(DRY)).toMatchObject({ status: "ready", exitCode: 0 });
    expect(sending.email.routes.domains.calls.map((call) => call.status)).toEqual([401]);
  });

  test("the application's address is asked without a secret, and what it answers is not followed", async () => {
    weekly.application.ledger.length = 0;
    await weekly.run(DRY, {
      setup: setupPeersOf({ ...weekly, application: { url: `${weekly.application.url}/base/` } }),
    });
    const seen = weekly.application.ledger.map(({ path, headers }) => [path, headers.authorization]);
    expect(seen).toEqual([["/base", undefined]]);
  });

  test("everything is wrong at once: each is named, those that concern all owners first", async () => {
    await weekly.db.sql`update users set phone = null where id = ${seeded.userId}`;
    const setup = setupPeersOf({ application: NOWHERE, gateway: NOWHERE, email: NOWHERE });
    const logDir = join(weekly.logDir, "gone");
    const summary = await weekly.run({ ...DRY, logDir }, { setup });
    const failures: typeof summary.failures = [
      { step: "readiness", code: "APP_UNREACHABLE" },
      { step: "whatsapp", code: "gateway_unreachable" },
      { step: "email", code: "email_unreachable" },
      { step: "heartbeat", code: "HEARTBEAT_UNWRITABLE", cause: "ENOENT" },
      { step: "whatsapp", code: "recipient_phone_missing", tenantId: seeded.tenantId },
    ];
    expect(summary.failures).toEqual(failures);
    const text = renderSummary(summary, NO_TERMINAL);
    expect(text).toContain("NOT READY");
    expect(text).toContain("\nWhat would fail:\n");
    expect(text).not.toMatch(/What failed|pair the sending phone/);
    for (const name of ["APP_BASE_URL", "GATEWAY_URL", "EMAIL_API_URL"]) expect(text).toContain(name);
  });
});

describe("a dry run looks at the log directory", () => {
  const spoilt: [string, string, (logDir: string) => unknown][] = [
    ["missing", "ENOENT", (logDir) => rmSync(logDir, { recursive: true })],
    [
      "a file",
      "ENOTDIR",
      (logDir) => {
        rmSync(logDir, { recursive: true });
        writeFileSync(logDir, "");
      },
    ],
    [
      "closed by a directory of the file's name",
      "EISDIR",
      (logDir) => mkdirSync(join(logDir, HEARTBEAT_FILE)),
    ],
  ];
  test.each(spoilt)("a log directory that is %s is named", async (_what, cause, spoil) => {
    await using weekly = await weeklyFixture();
    const { tenantId } = await seedOwner(weekly.db.sql);
    spoil(weekly.logDir);
    const failures = [{ step: "heartbeat", code: "HEARTBEAT_UNWRITABLE", cause }];
    expect(await weekly.run(DRY)).toMatchObject({ status: "not_ready", exitCode: 3, failures });
    // The heartbeat of a run that leaves something out is kept.
    for (const part of [{ tenantId }, { skipWhatsapp: true }, { skipEmail: true }, { skipEditorials: true }])
      expect(await weekly.run({ ...DRY, ...part })).toMatchObject({ status: "ready", failures: [] });
    expect(await weekly.run()).toMatchObject({ heartbeat: "failed", exitCode: 1 });
  });

  requires("mount").test("a full log directory is named", async () => {
    await using weekly = await weeklyFixture();
    using disk = smallDisk(1);
    const dry = () => weekly.run({ ...DRY, logDir: disk.directory });
    expect(await dry()).toMatchObject({ status: "ready" });
    disk.fill();
    expect((await dry()).failures).toMatchObject([{ code: "HEARTBEAT_UNWRITABLE", cause: "ENOSPC" }]);
    disk.empty();
    expect(await dry()).toMatchObject({ status: "ready" });
  });
});

test("a dry run says what only a real run can prove", async () => {
  await using weekly = await weeklyFixture();
  const { tenantId } = await seedOwner(weekly.db.sql);
  const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
  const unprovedBy = async (options: Parameters<WeeklyFixture["run"]>[0]) =>
    (await weekly.run({ ...DRY, editorials, ...options })).unproved;
  const [trigger, editorial, numbers, sender] = [
    ...["trigger_secret_unproved", "editorial_secret_unproved"],
    ...["whatsapp_numbers_unproved", "email_sender_unproved"],
  ];
  expect(await unprovedBy({})).toEqual([trigger!, editorial!, numbers!, sender!]);
  expect(await unprovedBy({ skipWhatsapp: true })).toEqual([trigger!, editorial!, sender!]);
  expect(await unprovedBy({ skipEmail: true, skipEditorials: true })).toEqual([trigger!, numbers!]);
  expect(await unprovedBy({ tenantId })).toEqual([trigger!, numbers!, sender!]);
  const text = renderSummary(await weekly.run({ ...DRY, editorials }), NO_TERMINAL);
  expect(text).toStartWith("Ready: a real run would send every report");
  expect(text).toContain("Only a real run can prove:\n  trigger_secret_unproved: that the application takes");
  expect(text).not.toContain("not known to this version");
  expect((await weekly.run()).unproved).toEqual([]);
});

/** Lets every statement that asks for the run's clock fail as on a server that is starting up. */
const startingUp = (sql: WeeklyFixture["db"]["sql"]) =>
  sql.unsafe(`
    create or replace function public.weekly_performance_now() returns timestamptz language plpgsql stable
    as $$ begin raise 'the database system is starting up' using errcode = '57P03'; end $$`);

test.each([
  ["a dry run waits ten seconds", DRY, 10, 60],
  ["a real run waits five minutes", {}, 300, 360],
])("%s for a database that is starting up, and says why it ends", async (_what, options, least, most) => {
  await using weekly = await weeklyFixture();
  await startingUp(weekly.db.sql);
  const time = virtualTime();
  const startedMs = time.monotonicMs();
  const failure = await weekly
    .run(options, time)
    .catch((error) => `${error.code} ${error.message}; ${error.hint}`);
  expect(failure).toMatch(/DATABASE_UNREACHABLE.*SQLSTATE 57P03.*The server is there, and starts/);
  const waitedSeconds = (time.monotonicMs() - startedMs) / 1000;
  expect(waitedSeconds).toBeGreaterThanOrEqual(least);
  expect(waitedSeconds).toBeLessThan(most);
});

describe("a dry run of a part", () => {
  test("a dry run does not ask for what a flag leaves out", async () => {
    await using weekly = await weeklyFixture();
    await seedOwner(weekly.db.sql, { phone: null, email: null });
    weekly.gateway.instances.clear();
    await weekly.db.sql`update tenant_config set config = '{}'::jsonb`;
    const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: false };
    const left = { skipWhatsapp: true, skipEmail: true, skipEditorials: true };
    expect(await weekly.run({ ...DRY, ...left, editorials })).toMatchObject({
      status: "ready",
      exitCode: 0,
      whatsapp: { skipped: 1, failed: 0 },
      email: { skipped: 1, failed: 0 },
      editorials: { status: "skipped", code: null },
    });
    expect(requests(weekly)).toEqual(["GET /"]);

    const whatsappOnly = await weekly.run({ ...DRY, skipEmail: true });
    expect(codes(whatsappOnly)).toEqual(["sem_instancia_gateway", "recipient_phone_missing"]);
    const editorialsOnly = await weekly.run({ ...DRY, ...left, skipEditorials: false, editorials });
    expect(codes(editorialsOnly)).toEqual(["SOCIAL_EDITORIALS_CRON_SECRET_MISSING"]);
    expect(editorialsOnly).toMatchObject({
      status: "not_ready",
      exitCode: 3,
      editorials: { status: "failed" },
    });
  });

  test("a tenant that is not there or not eligible: exit 3, nothing done, dry or not", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await seedOwner(sql);
    const suspended = await seedOwner(sql, { wallet: "suspended" });
    const archived = await seedOwner(sql, { archived: true });
    const member = await seedOwner(sql, { role: "member" });
    const before = await databaseSnapshot(sql);
    const unknown = "00000000-0000-4000-8000-00000000dead";
    for (const tenantId of [unknown, suspended.tenantId, archived.tenantId, member.tenantId]) {
      for (const dryRun of [true, false]) {
        expect(await weekly.run({ dryRun, tenantId })).toMatchObject({
          status: "not_ready",
          exitCode: 3,
          failures: [{ step: "scope", code: "TENANT_NOT_ELIGIBLE", tenantId }],
          error: { code: "TENANT_NOT_ELIGIBLE" },
          heartbeat: "kept",
        });
      }
    }
    expect(await databaseSnapshot(sql)).toEqual(before);
    expect(requests(weekly)).toEqual([]);
  });
});

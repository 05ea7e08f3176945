import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../lib/host/heartbeat-file-name.ts";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { openingPatience } from "../../lib/weekly/database/opening-patience.ts";
import type { SetupPeers } from "../../lib/weekly/setup/peers.ts";
import { renderSummary } from "../../lib/weekly/texts/summary-text.ts";
import { newLogin } from "../support/roles.ts";
import { type SeededOwner, seedOwner, setClock } from "../support/seed.ts";
import { databaseDigest } from "./support/database-digest.ts";
import { runAs } from "./support/run-as.ts";
import { skippingTime } from "./support/skipping-time.ts";
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

describe("a dry run when everything is ready", () => {
  test("says so, writes nothing anywhere and asks each peer one question", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    for (let i = 0; i < 3; i += 1) await seedOwner(db.sql);
    await weekly.run({ tenantId: (await seedOwner(db.sql)).tenantId });
    const seen = requests(weekly).length;
    const before = await databaseDigest(db.sql);

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
    expect(Object.keys(before)).toContain("weekly_performance_reports");
    expect(await databaseDigest(db.sql)).toEqual(before);
    expect(requests(weekly).slice(seen).toSorted()).toEqual(QUESTIONS);
    expect(readdirSync(weekly.logDir)).toEqual([]);
  });

  test.each(["2026-11-22T12:00:00Z", "2026-11-24T03:00:00Z", "2026-11-27T23:59:59Z"])(
    "works on any day: %s",
    async (clock) => {
      await using weekly = await weeklyFixture({ clock });
      await seedOwner(weekly.db.sql);
      const summary = await weekly.run(DRY);
      expect(summary).toMatchObject({ status: "ready", exitCode: 0, retryableUntil: null });
    },
  );

  test("passes in a session that cannot write, where a real run cannot begin a single report", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    await seedOwner(db.sql);
    const login = await newLogin(db.sql, "grant service_role to");
    await db.sql.unsafe(`alter role ${login} set default_transaction_read_only = on`);
    const before = await databaseDigest(db.sql);

    expect(await runAs(weekly, login, DRY)).toMatchObject({ status: "ready", exitCode: 0 });

    expect(await runAs(weekly, login, {}, skippingTime())).toMatchObject({
      status: "failed",
      exitCode: 1,
      reports: { failed: 1 },
      failures: [{ step: "report", code: "report_claim_failed" }],
      error: { code: "DATABASE_LOST" },
    });
    expect(requests(weekly).toSorted()).toEqual(QUESTIONS);
    expect(await databaseDigest(db.sql)).toEqual(before);
  });

  test("has nothing to object to when nobody is eligible", async () => {
    await using weekly = await weeklyFixture();
    expect(await weekly.run(DRY)).toMatchObject({ status: "ready", exitCode: 0, reports: { scopes: 0 } });
  });
});

describe("a dry run of 1,200 owners", () => {
  test("looks at each of them, page by page, and names the first hundred failures", async () => {
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
});

const codes = ({ failures }: WeeklySummary) => [...new Set(failures.map(({ code }) => code))];

/** What is wrong, how both kinds of run are started, and the code that both give. */
type Broken = {
  code: string;
  /** What is behind the code, where several things lead to it. */
  cause?: string;
  step: "whatsapp" | "email";
  spoil?(weekly: WeeklyFixture): Promise<unknown> | unknown;
  owner?: Parameters<typeof seedOwner>[1];
  options?: Parameters<WeeklyFixture["run"]>[0];
};

const emailConfig = (weekly: WeeklyFixture, config: string) =>
  weekly.db.sql`
    update tenant_config set config = ${config}::text::jsonb where tenant_id = ${weekly.senders.emailTenantId}`;
const verified = (address: string) => `{"email": {"address": ${address}, "verification_status": "verified"}}`;
const status = (value: string) =>
  `{"email": {"address": "reports@mail.example", "verification_status": ${value}}}`;

const phone = (value: string | null): Broken => ({
  code: "recipient_phone_missing",
  step: "whatsapp",
  owner: { phone: value },
});
const address = (value: string | null): Broken => ({
  code: "recipient_email_missing",
  step: "email",
  owner: { email: value },
});
const noInstance = (cause: string, spoil: Broken["spoil"]): Broken => ({
  code: "sem_instancia_gateway",
  cause,
  step: "whatsapp",
  spoil: spoil!,
});
const noAddress = (config: string): Broken => ({
  code: "email_sender_address_missing",
  step: "email",
  spoil: (weekly) => emailConfig(weekly, config),
});
const unverified = (config: string): Broken => ({
  code: "email_sender_domain_unverified",
  step: "email",
  spoil: (weekly) => emailConfig(weekly, config),
});

const BROKEN: Record<string, Broken> = {
  "no phone": phone(null),
  "an empty phone": phone("  "),
  "a phone of letters": phone("liga pra mim"),
  "a phone of nine digits": phone("98765-4321"),
  "two phones": phone("11 98765-4321 / 11 98765-4322"),
  "no address": address(null),
  "an empty address": address(""),
  "an address without a domain": address("owner@"),
  "an address with a name": address("Owner <owner@client.example>"),
  "two addresses": address("a@client.example, b@client.example"),
  "an address with a line break": address("owner@client.example\nbcc: x@y.example"),
  "no sender tenant for WhatsApp": {
    code: "sender_tenant_missing",
    step: "whatsapp",
    options: { whatsappSenderTenantId: null },
  },
  "no sender tenant for e-mail": {
    code: "email_sender_tenant_missing",
    step: "email",
    options: { emailSenderTenantId: null },
  },
  "no instance of the sender tenant": noInstance(
    "sender_instance_missing",
    ({ db }) => db.sql`delete from messaging_instances`,
  ),
  "an instance that the gateway does not know": noInstance("instance_missing", ({ gateway }) =>
    gateway.instances.delete("ops"),
  ),
  "an instance that is closed": noInstance("instance_close", ({ gateway }) =>
    gateway.instances.set("ops", "close"),
  ),
  "an instance without a state": noInstance("instance_not_loaded", ({ gateway }) =>
    gateway.instances.set("ops", null),
  ),
  "a gateway that fails": noInstance("gateway_http_500", ({ gateway }) => {
    gateway.routes.state.script = () => ({ status: 500 });
  }),
  "a gateway without a licence": {
    code: "gateway_license_required",
    step: "whatsapp",
    spoil: ({ gateway }) => {
      gateway.isLicensed = false;
    },
  },
  "no configuration of the sender": noAddress("{}"),
  "a sender without an address": noAddress('{"email": {"verification_status": "verified"}}'),
  "a sender whose address is none": noAddress(verified('"reports"')),
  "a sender whose address is a number": noAddress(verified("7")),
  "a sender that is a list": noAddress('{"email": ["reports@mail.example"]}'),
  "a sender that is pending": unverified(status('"pending"')),
  "a sender in capitals": unverified(status('"Verified"')),
  "a sender with a blank": unverified(status('" verified"')),
  "a sender whose status is true": unverified(status("true")),
  "a sender without a status": unverified('{"email": {"address": "reports@mail.example"}}'),
};

/** Puts back everything that a scenario may have changed. */
async function mend({ db, gateway, application, senders }: WeeklyFixture, owner: SeededOwner): Promise<void> {
  const { sql } = db;
  await sql`update users set phone = ${owner.phone}, email = ${owner.email} where id = ${owner.userId}`;
  await sql`delete from messaging_instances`;
  await sql`
    insert into messaging_instances (tenant_id, instance_name) values (${senders.whatsappTenantId}, 'ops')`;
  await sql`
    update tenant_config set config = ${verified('"reports@mail.example"')}::text::jsonb
    where tenant_id = ${senders.emailTenantId}`;
  gateway.instances.set("ops", "open");
  gateway.isLicensed = true;
  gateway.routes.state.script = null;
  application.routes.home.script = null;
}

// No message of the channel is ever sent, so its scenarios can share one fixture.
describe.each(["whatsapp", "email"] as const)(
  "a dry run names what a real run would run into: %s",
  (channel) => {
    let weekly: WeeklyFixture;
    let seeded: SeededOwner;
    beforeAll(async () => {
      weekly = await weeklyFixture();
      seeded = await seedOwner(weekly.db.sql, { networks: [] });
    });
    afterAll(() => weekly[Symbol.asyncDispose]());

    const scenarios = Object.entries(BROKEN).filter(([, { step }]) => step === channel);
    test.each(scenarios)("%s", async (_what, { code, cause, step, spoil, owner, options }) => {
      const { sql } = weekly.db;
      await mend(weekly, seeded);
      const { phone, email } = { ...seeded, ...owner };
      await sql`update users set phone = ${phone}, email = ${email} where id = ${seeded.userId}`;
      await spoil?.(weekly);
      const before = await databaseDigest(sql);
      const seen = requests(weekly).length;

      const dry = await weekly.run({ ...DRY, ...options });

      const failure = { step, code, cause, ...(owner === undefined ? {} : { tenantId: seeded.tenantId }) };
      expect(dry).toMatchObject({ status: "not_ready", exitCode: 3, error: { code } });
      expect(dry.failures).toEqual([failure]);
      expect([dry.whatsapp.failed, dry.email.failed]).toEqual(step === "whatsapp" ? [1, 0] : [0, 1]);
      expect(await databaseDigest(sql)).toEqual(before);
      expect(
        requests(weekly)
          .slice(seen)
          .filter((request) => !request.startsWith("GET ")),
      ).toEqual([]);

      const real = await weekly.run(options);
      expect(real).toMatchObject({
        status: "failed",
        exitCode: 1,
        reports: { failed: 0 },
        heartbeat: "kept",
      });
      expect(codes(real)).toEqual([code]);
      expect(real.failures[0]!.cause).toBe(cause);
      expect([real.whatsapp.failed, real.email.failed]).toEqual(step === "whatsapp" ? [1, 0] : [0, 1]);
      const sent = { whatsapp: weekly.gateway.accepted.length, email: weekly.email.accepted.length };
      expect(sent).toEqual(step === "whatsapp" ? { whatsapp: 0, email: 1 } : { whatsapp: 1, email: 0 });
    });
  },
);

/** An address at which nothing listens. */
const NOWHERE = { url: "http://127.0.0.1:1" };

type Peer = "application" | "gateway" | "email";
/** What is wrong with a peer, and the failures that a dry run names for it. */
type PeerFault = {
  away?: Peer;
  /** Gets a short time limit; with one for all peers, a busy machine would look like a fault. */
  hangs?: Peer;
  spoil?(weekly: WeeklyFixture): unknown;
  options?: Parameters<WeeklyFixture["run"]>[0];
  failures: { step: string; code: string; cause?: string }[];
};

const ofGateway = (cause?: string) => ({
  step: "whatsapp",
  code: "gateway_unreachable",
  ...(cause && { cause }),
});
const ofEmail = (code: string) => ({ step: "email", code });
const unreachable = (cause?: string) => ({
  step: "readiness",
  code: "APP_UNREACHABLE",
  ...(cause && { cause }),
});
const noSender = { step: "whatsapp", code: "sem_instancia_gateway", cause: "sender_instance_missing" };
const withoutInstance = ({ db }: WeeklyFixture) => db.sql`delete from messaging_instances`;

/** The peers as a dry run asks them, with a short limit for the one that hangs. */
function impatientWith(hangs: Peer | undefined, peers: Record<Peer, { url: string }>): SetupPeers {
  const [patient, impatient] = [setupPeersOf(peers), setupPeersOf(peers, 300)];
  return {
    reachApplication: (hangs === "application" ? impatient : patient).reachApplication,
    gateway: (hangs === "gateway" ? impatient : patient).gateway,
    checkEmailKey: (hangs === "email" ? impatient : patient).checkEmailKey,
  };
}

const PEER_FAULTS: Record<string, PeerFault> = {
  "nothing listens at the gateway's address": { away: "gateway", failures: [ofGateway()] },
  "the gateway hangs": {
    hangs: "gateway",
    spoil: ({ gateway }) => gateway.routes.state.next("hang"),
    failures: [ofGateway("gateway_timeout")],
  },
  "the gateway hangs up": {
    spoil: ({ gateway }) => {
      gateway.routes.state.script = () => "drop";
    },
    failures: [ofGateway("gateway_connection_lost")],
  },
  "the sender has no instance, and nothing listens at the gateway's address": {
    away: "gateway",
    spoil: withoutInstance,
    failures: [noSender, ofGateway()],
  },
  "the sender has no instance, and the gateway hangs": {
    hangs: "gateway",
    spoil: async (weekly) => {
      await withoutInstance(weekly);
      weekly.gateway.routes.instances.next("hang");
    },
    failures: [noSender, ofGateway("gateway_timeout")],
  },
  "there is no sender tenant, and the gateway has no licence": {
    spoil: ({ gateway }) => {
      gateway.isLicensed = false;
    },
    options: { whatsappSenderTenantId: null },
    failures: [
      { step: "whatsapp", code: "sender_tenant_missing" },
      { step: "whatsapp", code: "gateway_license_required" },
    ],
  },
  "nothing listens at the e-mail provider's address": {
    away: "email",
    failures: [ofEmail("email_unreachable")],
  },
  "the e-mail provider refuses the key": {
    spoil: ({ email }) =>
      email.routes.domains.next({
        status: 401,
        json: { statusCode: 401, name: "validation_error", message: "API key is invalid" },
      }),
    failures: [ofEmail("email_api_key_invalid")],
  },
  "the e-mail provider has suspended the key": {
    spoil: ({ email }) =>
      email.routes.domains.next({
        status: 403,
        json: { statusCode: 403, name: "suspended_api_key", message: "suspended" },
      }),
    failures: [ofEmail("suspended_api_key")],
  },
  "the e-mail provider fails": {
    spoil: ({ email }) => email.routes.domains.next({ status: 500, text: "" }),
    failures: [ofEmail("email_http_500")],
  },
  "a page answers for the e-mail provider": {
    spoil: ({ email }) => email.routes.domains.next("not_json"),
    failures: [ofEmail("email_answer_unreadable")],
  },
  "the e-mail provider hangs": {
    hangs: "email",
    spoil: ({ email }) => email.routes.domains.next("hang"),
    failures: [ofEmail("email_timeout")],
  },
  "the sender's domain is not verified, and the key is refused": {
    spoil: async (weekly) => {
      await emailConfig(weekly, status('"pending"'));
      weekly.email.routes.domains.next({ status: 403, json: { name: "invalid_api_key", message: "" } });
    },
    failures: [ofEmail("email_sender_domain_unverified"), ofEmail("invalid_api_key")],
  },
  "nothing listens at the application's address": { away: "application", failures: [unreachable()] },
  "the application hangs": {
    hangs: "application",
    spoil: ({ application }) => application.routes.home.next("hang"),
    failures: [unreachable("APP_TIMEOUT")],
  },
  "something answers for the application that is no HTTP": {
    spoil: ({ application }) => {
      application.routes.home.script = () => "not_http";
    },
    failures: [unreachable()],
  },
};

describe("a dry run asks the peers themselves, and finds that", () => {
  let weekly: WeeklyFixture;
  let seeded: SeededOwner;
  beforeAll(async () => {
    weekly = await weeklyFixture();
    seeded = await seedOwner(weekly.db.sql);
  });
  afterAll(() => weekly[Symbol.asyncDispose]());

  test.each(Object.entries(PEER_FAULTS))("%s", async (_what, { away, hangs, spoil, options, failures }) => {
    await mend(weekly, seeded);
    await spoil?.(weekly);
    const { application, gateway, email } = weekly;
    const peers = { application, gateway, email, ...(away && { [away]: NOWHERE }) };
    const summary = await weekly.run({ ...DRY, ...options }, { setup: impatientWith(hangs, peers) });
    expect(summary).toMatchObject({ status: "not_ready", exitCode: 3, error: { code: failures[0]!.code } });
    expect(summary.failures).toEqual(failures as typeof summary.failures);
    const blocked = (step: string) => (failures.some((failure) => failure.step === step) ? 1 : 0);
    expect([summary.whatsapp.failed, summary.email.failed]).toEqual([blocked("whatsapp"), blocked("email")]);
    const text = renderSummary(summary);
    expect(text).toContain("NOT READY");
    expect(text).toContain("\nWhat would fail:\n");
    expect(text).not.toContain("What failed");
    expect(text).not.toMatch(/pair the sending phone/);
    if (away !== undefined) expect(text).toMatch(/-> [\s\S]*(APP_BASE_URL|GATEWAY_URL|EMAIL_API_URL)/);
  });

  test.each([
    ["an error", { status: 500, text: "" }],
    ["a refusal", { status: 401, json: { error: "unauthorized" } }],
    ["nothing of that name", { status: 404, text: "" }],
    ["a page", "not_json"],
    ["a page without an end", "stall_body"],
    ["a page that breaks off", "break_body"],
    ["a page that is too large", "huge"],
  ] as const)("%s is an answer of the application", async (_what, answer) => {
    await mend(weekly, seeded);
    weekly.application.routes.home.next(answer);
    const setup =
      answer === "stall_body" ? impatientWith("application", weekly) : impatientWith(undefined, weekly);
    expect(await weekly.run(DRY, { setup })).toMatchObject({ status: "ready", exitCode: 0, failures: [] });
  });

  test("everything at once: each is named, those that concern all owners first", async () => {
    await mend(weekly, seeded);
    await weekly.db.sql`update users set phone = null where id = ${seeded.userId}`;
    const setup = setupPeersOf({ application: NOWHERE, gateway: NOWHERE, email: NOWHERE });
    const logDir = join(weekly.logDir, "gone");
    const summary = await weekly.run({ ...DRY, logDir }, { setup });
    expect(summary.failures).toEqual([
      unreachable(),
      ofGateway(),
      ofEmail("email_unreachable"),
      { step: "heartbeat", code: "HEARTBEAT_UNWRITABLE", cause: "ENOENT" },
      { step: "whatsapp", code: "recipient_phone_missing", tenantId: seeded.tenantId },
    ] as typeof summary.failures);
  });
});

test("a dry run takes a key that may only send: that the provider says so proves that it knows the key", async () => {
  await using weekly = await weeklyFixture({ email: { sendsOnly: true } });
  await seedOwner(weekly.db.sql);
  expect(await weekly.run(DRY)).toMatchObject({ status: "ready", exitCode: 0 });
  expect(weekly.email.routes.domains.calls.map((call) => call.status)).toEqual([401]);
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
  test.each(spoilt)("that is %s", async (_what, cause, spoil) => {
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
  const text = renderSummary(await weekly.run({ ...DRY, editorials }));
  expect(text).toStartWith("Ready: a real run would send every report");
  expect(text).toContain("Only a real run can prove:\n  trigger_secret_unproved: that the application takes");
  expect(text).not.toContain("not known to this version");
  expect((await weekly.run()).unproved).toEqual([]);
});

describe("a dry run of a database that is away for a moment", () => {
  const starting = Object.assign(new Error("the database system is starting up"), {
    severity: "FATAL",
    code: "57P03",
  });
  const neverFor = async (step: "now" | "readSenders", options: Partial<typeof DRY>) => {
    await using weekly = await weeklyFixture();
    const time = skippingTime();
    const startedMs = time.monotonicMs();
    const store = { [step]: () => Promise.reject(starting) };
    const failure = await weekly.run(options, { ...time, store }).then(
      (summary) => `ended with ${summary.status}`,
      ({ code, message, hint }: Error & { code: string; hint: string }) => `${code} ${message}; ${hint}`,
    );
    return { failure, waitedSeconds: Math.round((time.monotonicMs() - startedMs) / 1000) };
  };

  test.each(["now", "readSenders"] as const)("ends after ten seconds and says why: %s", async (step) => {
    const { failure, waitedSeconds } = await neverFor(step, DRY);
    expect(failure).toMatch(/DATABASE_UNREACHABLE.*SQLSTATE 57P03.*The server is there, and starts/);
    expect(waitedSeconds).toBeGreaterThanOrEqual(10);
    expect(waitedSeconds).toBeLessThan(60);
  });

  test("where a real run waits five minutes", async () => {
    expect((await neverFor("now", {})).waitedSeconds).toBeGreaterThanOrEqual(300);
  });

  test("does not wait longer for its first connection", () => {
    expect(openingPatience(DRY)).toEqual({ limitMs: 10_000, unreachableLimitMs: 0 });
    expect(openingPatience({ dryRun: false })).toEqual({ limitMs: 300_000, unreachableLimitMs: 120_000 });
  });
});

describe("a dry run does not ask for", () => {
  test("what a flag leaves out", async () => {
    await using weekly = await weeklyFixture();
    await seedOwner(weekly.db.sql, { phone: null, email: null });
    weekly.gateway.instances.clear();
    await emailConfig(weekly, "{}");
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
    const before = await databaseDigest(sql);
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
    expect(await databaseDigest(sql)).toEqual(before);
    expect(requests(weekly)).toEqual([]);
  });
});

test("outside Monday a real run is refused before it looks at anybody", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  await seedOwner(sql);
  await setClock(sql, "2026-11-24T03:00:00Z");
  const before = await databaseDigest(sql);
  expect(await weekly.run()).toMatchObject({
    status: "refused",
    exitCode: 4,
    error: { code: "WEEKLY_OUTSIDE_MONDAY" },
    reports: { scopes: 0 },
  });
  expect(await databaseDigest(sql)).toEqual(before);
  expect(requests(weekly)).toEqual([]);
});

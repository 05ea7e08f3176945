import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { refusedPort, startDropper } from "../../standins/raw-peer.ts";
import { startTcpProxy } from "../../standins/tcp-proxy.ts";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { PASSWORD, sharedPostgres } from "../../support/postgres.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture, serviceLogin } from "../support/fixture.ts";
import { logLines } from "../support/opsctl.ts";

const url = (part: Partial<Record<"user" | "password" | "port" | "database", string | number>>) =>
  `postgres://${part.user}:${part.password ?? PASSWORD}@127.0.0.1:${part.port}/${part.database ?? "app"}`;

type Case = {
  name: string;
  code: string;
  hint: RegExp;
  /** A real run would wait for it. */
  isWaitedFor?: true;
  spoil: (fixture: Fixture) => Promise<unknown>;
};

/** Databases that cannot be reached, or not as this login. */
const OUT_OF_REACH: Case[] = [
  {
    name: "is down",
    code: "DATABASE_UNREACHABLE",
    hint: /host, port/,
    isWaitedFor: true,
    spoil: async (fixture) => fixture.secret("DATABASE_URL", url({ user: "u", port: await refusedPort() })),
  },
  {
    name: "has another password",
    code: "DATABASE_AUTH_FAILED",
    hint: /user and password/,
    async spoil(fixture) {
      const { port } = await sharedPostgres();
      const [user, database] = [await serviceLogin(), fixture.db.name];
      fixture.secret("DATABASE_URL", url({ user, port, database, password: "canary-of-a-wrong-password" }));
    },
  },
  {
    name: "does not exist",
    code: "DATABASE_NOT_FOUND",
    hint: /database name/,
    async spoil(fixture) {
      const { port } = await sharedPostgres();
      fixture.secret("DATABASE_URL", url({ user: await serviceLogin(), port, database: "no_such_database" }));
    },
  },
];

const sqlOf = (statement: string) => (fixture: Fixture) => fixture.db.sql.unsafe(statement).simple();

/** Databases that are there, and lack something. */
const INCOMPLETE: Case[] = [
  {
    name: "lacks the list function",
    code: "DATABASE_NOT_MIGRATED",
    hint: /opsctl migrate/,
    spoil: sqlOf("drop function list_weekly_performance_report_scopes cascade"),
  },
  {
    name: "lacks the persist function",
    code: "DATABASE_NOT_MIGRATED",
    hint: /opsctl migrate/,
    spoil: sqlOf("drop function persist_weekly_performance_report cascade"),
  },
  {
    name: "lacks a column",
    code: "DATABASE_SCHEMA_MISSING",
    hint: /application's own migrations/,
    spoil: sqlOf("alter table users rename column phone to telephone"),
  },
  {
    name: "lacks a table",
    code: "DATABASE_SCHEMA_MISSING",
    hint: /application's own migrations/,
    spoil: sqlOf("drop table resend_email_events"),
  },
  {
    name: "lacks a grant",
    code: "DATABASE_GRANT_MISSING",
    hint: /^grant select on public\.resend_email_events to service_role;$/,
    spoil: sqlOf("revoke select on resend_email_events from service_role"),
  },
  {
    name: "lacks the right to call a function",
    code: "DATABASE_GRANT_MISSING",
    hint: /^grant execute on function public\.claim_weekly_performance_report\(.*\) to service_role;$/,
    spoil: sqlOf("revoke execute on function claim_weekly_performance_report from service_role"),
  },
  {
    name: "hides rows by row security",
    code: "DATABASE_ROW_SECURITY",
    hint: /bypassrls/,
    spoil: sqlOf("alter table users enable row level security"),
  },
];

async function expectNotReady(fixture: Fixture, unready: Case) {
  const { code, hint, isWaitedFor } = unready;
  const before = await databaseSnapshot(fixture.db.sql);
  for (const mode of isWaitedFor ? [["--dry-run"]] : [[], ["--dry-run"]]) {
    const ended = await fixture.weekly(["--json", ...mode]);
    expect(ended.exitCode, ended.stdout).toBe(3);
    expect(ended.summary).toMatchObject({
      status: "not_ready",
      exitCode: 3,
      dryRun: mode.length > 0,
      heartbeat: "kept",
      error: { code, hint: expect.stringMatching(hint) },
    });
    expect(ended.stdout + ended.stderr).not.toContain("canary");
    expect(ended.stdout + ended.stderr).not.toContain("postgres://");
  }
  expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
  expect(fixture.requests()).toEqual([]);
  expect(fixture.heartbeat.isOld()).toBe(true);
}

describe.concurrent("a database out of reach", () => {
  test.each(OUT_OF_REACH)("a run is not ready because its database $name", async (unready) => {
    await using fixture = await openFixture();
    await unready.spoil(fixture);
    await expectNotReady(fixture, unready);
  });
});

describe.concurrent("a database that is unavailable when the run starts", () => {
  test("is waited for, and the run is as any other", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const { port } = await sharedPostgres();
    const proxy = await startTcpProxy(port);
    proxy.vanish();
    const database = fixture.db.name;
    fixture.secret("DATABASE_URL", url({ user: await serviceLogin(), port: proxy.port, database }));
    const running = await fixture.start(["weekly", "--json"]);
    const waits = new Promise<void>((resolve) => {
      running.child.stderr!.on("data", (bytes) => String(bytes).includes("waits for it") && resolve());
    });
    await waits;
    const record = () => JSON.parse(readFileSync(join(fixture.logDir, LAST_RUN_FILE), "utf8"));
    const waiting = { waitsFor: "database", code: "DATABASE_UNREACHABLE" };
    expect(record()).toMatchObject({ status: "running", begunAt: null, waiting });
    const meanwhile = await fixture.opsctl(["reports", "status", "--json", "--log-format", "json"]);
    expect(meanwhile.exitCode, meanwhile.stdout).toBe(3);
    expect(logLines(meanwhile.stderr)).toContainEqual(
      expect.objectContaining({ msg: "A weekly run of this host waits before it can begin", ...waiting }),
    );
    proxy.open();
    const { exitCode, summary, stderr } = await running.ended;
    await proxy.stop();
    expect(record()).toMatchObject({ status: "success", runId: summary.runId, waiting: null });
    expect({ exitCode, sent: summary.whatsapp.sent }, stderr).toEqual({ exitCode: 0, sent: 1 });
    expect(stderr).toContain("DATABASE_UNREACHABLE");
  });
});

describe.concurrent("a database that is not ready", () => {
  test.each(INCOMPLETE)("a run is not ready because its database $name", async (unready) => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    await unready.spoil(fixture);
    await expectNotReady(fixture, unready);
  });

  test("a run is not ready because another service than a database drops the connection", async () => {
    await using fixture = await openFixture();
    const peer = await startDropper();
    fixture.secret("DATABASE_URL", url({ user: "u", port: peer.port }));
    const { exitCode, summary } = await fixture.weekly(["--json", "--dry-run"]);
    await peer.stop();
    expect({ exitCode, code: summary.error?.code }).toEqual({ exitCode: 3, code: "DATABASE_UNREACHABLE" });
  });

  test("is shown to a person with the line that repairs it", async () => {
    await using fixture = await openFixture();
    await sqlOf("revoke select on resend_email_events from service_role")(fixture);
    const { exitCode, stdout } = await fixture.weekly();
    expect(exitCode).toBe(3);
    expect(stdout).toContain("NOT READY: nothing was written or sent");
    expect(stdout).toContain("DATABASE_GRANT_MISSING");
    expect(stdout).toContain("grant select on public.resend_email_events to service_role;");
  });

  test("an owner of the schema without membership may run, and a stranger may not", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    fixture.secret("DATABASE_URL", fixture.db.url);
    expect((await fixture.weekly(["--json"])).exitCode).toBe(0);
    const { newLogin } = await import("../../support/roles.ts");
    const stranger = await newLogin(fixture.db.sql);
    const { port } = await sharedPostgres();
    fixture.secret("DATABASE_URL", url({ user: stranger, port, database: fixture.db.name }));
    const { exitCode, summary } = await fixture.weekly(["--json"]);
    expect({ exitCode, code: summary.error?.code }).toEqual({ exitCode: 3, code: "DATABASE_GRANT_MISSING" });
    await fixture.db.sql.unsafe(`drop role ${stranger}`);
  });
});

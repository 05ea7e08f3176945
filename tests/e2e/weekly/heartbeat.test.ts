import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { opsctlBinary } from "../../support/binary.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { startProgram } from "../support/opsctl.ts";

const EXHAUSTED = [
  { truncated: true, nextCursor: "a", llmCalls: 3 },
  { truncated: true, nextCursor: "b", llmCalls: 3 },
];
const STALLED = { truncated: true, nextCursor: null, llmCalls: 0 };

type Case = {
  name: string;
  args?: (tenantId: string) => string[];
  editorials?: boolean;
  prepare?: (fixture: Fixture) => unknown;
  exitCode: number;
  heartbeat: "written" | "kept";
  editorialStatus: [status: string, code?: string];
};

const CASES: Case[] = [
  { name: "plain", exitCode: 0, heartbeat: "written", editorialStatus: ["disabled"] },
  {
    name: "plain, editorials enabled",
    editorials: true,
    exitCode: 0,
    heartbeat: "written",
    editorialStatus: ["completed"],
  },
  {
    name: "no owner at all",
    prepare: ({ db }) => db.sql`update credit_wallets set status = 'closed'`,
    exitCode: 0,
    heartbeat: "written",
    editorialStatus: ["disabled"],
  },
  {
    name: "--tenant",
    args: (tenantId) => ["--tenant", tenantId],
    editorials: true,
    exitCode: 0,
    heartbeat: "kept",
    editorialStatus: ["skipped"],
  },
  ...["--skip-whatsapp", "--skip-email", "--skip-editorials"].map(
    (flag): Case => ({
      name: flag,
      args: () => [flag],
      exitCode: 0,
      heartbeat: "kept",
      editorialStatus: ["disabled"],
    }),
  ),
  {
    name: "--skip-editorials, editorials enabled",
    args: () => ["--skip-editorials"],
    editorials: true,
    exitCode: 0,
    heartbeat: "kept",
    editorialStatus: ["skipped"],
  },
  {
    name: "--dry-run",
    args: () => ["--dry-run"],
    exitCode: 0,
    heartbeat: "kept",
    editorialStatus: ["disabled"],
  },
  {
    name: "an editorial route that fails",
    editorials: true,
    prepare: ({ application }) => application.routes.editorial.next({ status: 500, text: "<html>" }),
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["failed", "WORKER_HTTP_500"],
  },
  {
    name: "an exhausted budget",
    editorials: true,
    prepare: ({ application, env }) => {
      env.SOCIAL_EDITORIALS_MAX_LLM_CALLS = "6";
      application.editorials.push(...EXHAUSTED);
    },
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["failed", "SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED"],
  },
  {
    name: "three answers without progress",
    editorials: true,
    prepare: ({ application }) => application.editorials.push(STALLED, STALLED, STALLED),
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["failed", "SOCIAL_EDITORIALS_NO_PROGRESS"],
  },
  {
    name: "a tenant that the editorial route failed on",
    editorials: true,
    prepare: ({ application }) =>
      application.editorials.push({
        truncated: false,
        llmCalls: 3,
        failures: [{ tenantId: "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d", code: "MODEL_REFUSED" }],
      }),
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["failed", "SOCIAL_EDITORIALS_TENANT_FAILURES"],
  },
  {
    name: "an editorial secret that the application does not know",
    editorials: true,
    prepare: (fixture) => fixture.secret("SOCIAL_EDITORIALS_CRON_SECRET", "canary-another-editorial-secret"),
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["failed", "WORKER_HTTP_401"],
  },
  {
    name: "one delivery that failed",
    prepare: ({ db }) => db.sql`update users set phone = null`,
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["disabled"],
  },
  {
    name: "one delivery in doubt",
    prepare: ({ email }) => email.routes.send.next({ accept: "drop" }),
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["disabled"],
  },
  {
    name: "a timeline entry that cannot be written",
    prepare: ({ db }) => db.sql`alter table timeline_entries add constraint no_entries check (false)`,
    exitCode: 1,
    heartbeat: "kept",
    editorialStatus: ["disabled"],
  },
  {
    name: "one network of one owner that fails",
    prepare: ({ application }) => application.routes.analysis.next({ status: 404 }),
    exitCode: 0,
    heartbeat: "written",
    editorialStatus: ["disabled"],
  },
];

describe.concurrent("the success heartbeat", () => {
  test.each(CASES)(
    "$name",
    async ({ args, editorials = false, prepare, exitCode, heartbeat, editorialStatus }) => {
      await using fixture = await openFixture({ editorials });
      const owner = await seedOwner(fixture.db.sql);
      await prepare?.(fixture);

      const ended = await fixture.weekly(["--json", ...(args?.(owner.tenantId) ?? [])]);

      expect(ended.exitCode, ended.stdout).toBe(exitCode);
      expect(ended.summary.heartbeat).toBe(heartbeat);
      const [status, code = null] = editorialStatus;
      expect(ended.summary.editorials).toMatchObject({ status, code });
      expect(fixture.heartbeat.isOld()).toBe(heartbeat === "kept");
      // A run that leaves something out, or writes nothing, leaves no record either.
      const isRecorded = args === undefined;
      expect(readdirSync(fixture.logDir).sort()).toEqual([
        ...(isRecorded ? ["weekly_performance_reports.last.json"] : []),
        "weekly_performance_reports.success",
      ]);
    },
  );
});

/** Log directories that a heartbeat cannot be written to. */
const UNWRITABLE: [string, (fixture: Fixture) => string, string][] = [
  ["missing", (fixture) => join(fixture.folder, "nowhere"), "ENOENT"],
  [
    "a file",
    (fixture) => {
      const path = join(fixture.folder, "a-file");
      writeFileSync(path, "");
      return path;
    },
    "ENOTDIR",
  ],
  // No account can make a file there, not even root.
  ["read-only", () => "/sys", "EACCES"],
];

describe.concurrent("a heartbeat that cannot be written", () => {
  test.each(UNWRITABLE)("because the log directory is %s", async (_name, logDirOf, _cause) => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const logDir = logDirOf(fixture);

    const ended = await fixture.weekly(["--json"], { env: { OPSCTL_LOG_DIR: logDir } });

    expect(ended.exitCode, ended.stderr).toBe(1);
    expect(ended.summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "failed",
      whatsapp: { sent: 1 },
      email: { sent: 1 },
      failures: [{ step: "heartbeat", code: "HEARTBEAT_UNWRITABLE" }],
    });
    expect(existsSync(join(fixture.folder, "nowhere"))).toBe(false);
    expect(fixture.heartbeat.isOld()).toBe(true);

    const next = await fixture.weekly(["--json"]);
    expect(next.summary).toMatchObject({
      heartbeat: "written",
      whatsapp: { reused: 1 },
      email: { reused: 1 },
    });
  });

  test("because its file may not grow: the old one stays whole, and nothing half-written beside it", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    // A disk that is full, as far as this process can tell: each write to a file fails after it was opened.
    const script = 'trap "" XFSZ; ulimit -f 0; exec "$0" weekly --json';
    const running = startProgram(["/bin/sh", "-c", script, await opsctlBinary()], { env: fixture.env });

    const ended = await running.ended;

    expect(ended.exitCode, ended.stderr).toBe(1);
    expect(ended.summary).toMatchObject({ heartbeat: "failed", whatsapp: { sent: 1 }, email: { sent: 1 } });
    expect(fixture.heartbeat.isOld()).toBe(true);
    expect(readdirSync(fixture.logDir)).toEqual(["weekly_performance_reports.success"]);
  });

  test("but a first one needs no older one", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    rmSync(fixture.heartbeat.path);
    chmodSync(fixture.logDir, 0o700);

    const { summary } = await fixture.weekly(["--json"]);

    expect(summary.heartbeat).toBe("written");
    expect(JSON.parse(fixture.heartbeat.read())).toMatchObject({ runId: summary.runId });
  });
});

/** How a run ends: exit status, summary and heartbeat, for what its services answer and what it is asked to leave out. */
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import type { SendOutcome } from "../../../lib/providers/send-outcome.ts";
import { type AnswerCase, type PeerAnswer, playedBy } from "../../cases/answer-case.ts";
import { ANALYSIS_ANSWERS } from "../../cases/application-answers.ts";
import { EMAIL_ANSWERS } from "../../cases/email-answers.ts";
import { SEND_ANSWERS, STATE_ANSWERS } from "../../cases/gateway-answers.ts";
import type { Route, StandIn } from "../../standins/standin.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { startProgram } from "../support/opsctl.ts";

/**
 * One run with one owner.
 *
 * Shape: `says` is in the summary, `codes` are those of its failures, each once. A run with `args` leaves something out
 *        or writes nothing, so that it keeps the old heartbeat whatever its end.
 */
type Case = {
  name: string;
  args?: string[] | ((tenantId: string) => string[]);
  prepare?: (fixture: Fixture) => unknown;
  exitCode: number;
  says: object;
  codes?: string[];
};

const clean = { sent: 1, failed: 0, unknown: 0, skipped: 0 };
const drained = (status: string, code?: string) => ({ editorials: { status, ...(code && { code }) } });

/** Lets a service give this answer to each call of a route, or be away. */
async function answerWith(peer: StandIn<string>, route: Route, answer: PeerAnswer): Promise<void> {
  if (answer === "nobody_listens") await peer.stop();
  else route.script = () => answer;
}

function sendCase(channel: "whatsapp" | "email", { name, answer, becomes }: AnswerCase<SendOutcome>): Case {
  const other = channel === "whatsapp" ? "email" : "whatsapp";
  const counted = becomes.status === "throttled" ? "failed" : becomes.status;
  const code = becomes.status === "sent" ? [] : [becomes.code];
  return {
    name: `the ${channel === "whatsapp" ? "gateway" : "e-mail provider"} answers a send with: ${name}`,
    prepare: ({ gateway, email }) => {
      const peer = channel === "whatsapp" ? gateway : email;
      return answerWith(peer, peer.routes.send, answer);
    },
    exitCode: 1,
    says: { [channel]: { ...clean, sent: 0, [counted]: 1 }, [other]: clean },
    codes: code,
  };
}

const ANSWERS: Case[] = [
  ...playedBy("e2e", ANALYSIS_ANSWERS).map(({ name, answer, becomes }): Case => {
    const { code, failure } = becomes as Extract<typeof becomes, { status: "failed" }>;
    const refused = {
      error: { code },
      reports: { completed: 0, failed: 1 },
      whatsapp: { sent: 0 },
      email: { sent: 0 },
    };
    const away = { social: { calls: 4, failed: 2 }, whatsapp: clean, email: clean };
    return {
      name: `the application answers every analysis with: ${name}`,
      prepare: ({ application }) => answerWith(application, application.routes.analysis, answer),
      exitCode: 1,
      says: failure === "refused" ? { ...refused, ...drained("skipped") } : away,
      codes:
        failure === "refused"
          ? [code]
          : // Where nobody listens the editorials are missing as well.
            ["SOCIAL_ALL_CALLS_FAILED", code, ...(answer === "nobody_listens" ? ["WORKER_UNREACHABLE"] : [])],
    };
  }),
  ...playedBy("e2e", STATE_ANSWERS).map(
    ({ name, answer }): Case => ({
      name: `the gateway says of the instance: ${name}`,
      prepare: ({ gateway }) => answerWith(gateway, gateway.routes.state, answer),
      exitCode: 1,
      says: { whatsapp: { ...clean, sent: 0, failed: 1 }, email: clean },
      codes: ["sem_instancia_gateway"],
    }),
  ),
  ...playedBy("e2e", SEND_ANSWERS).map((row) => sendCase("whatsapp", row)),
  ...playedBy("e2e", EMAIL_ANSWERS).map((row) => sendCase("email", row)),
];

const PARTS: Case[] = [
  { name: "plain", exitCode: 0, says: drained("completed") },
  {
    name: "without editorials in the settings",
    prepare: ({ env }) => delete env.SOCIAL_EDITORIALS_ENABLED,
    exitCode: 0,
    says: drained("disabled"),
  },
  {
    name: "no owner at all",
    prepare: ({ db }) => db.sql`update credit_wallets set status = 'closed'`,
    exitCode: 0,
    says: { reports: { scopes: 0 } },
  },
  { name: "--tenant", args: (tenantId) => ["--tenant", tenantId], exitCode: 0, says: drained("skipped") },
  { name: "--skip-whatsapp", args: ["--skip-whatsapp"], exitCode: 0, says: { whatsapp: { skipped: 1 } } },
  { name: "--skip-email", args: ["--skip-email"], exitCode: 0, says: { email: { skipped: 1 } } },
  { name: "--skip-editorials", args: ["--skip-editorials"], exitCode: 0, says: drained("skipped") },
  { name: "--dry-run", args: ["--dry-run"], exitCode: 0, says: { status: "ready" } },
];

const EXHAUSTED = { truncated: true, nextCursor: "a", llmCalls: 3 };
const STALLED = { truncated: true, nextCursor: null, llmCalls: 0 };
const TENANT_FAILED = {
  truncated: false,
  llmCalls: 3,
  failures: [{ tenantId: "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d", code: "MODEL_REFUSED" }],
};
const editorialCase = (name: string, code: string, prepare: Case["prepare"]): Case => ({
  ...{ name, prepare: prepare!, exitCode: 1 },
  says: { ...drained("failed", code), whatsapp: clean, email: clean },
});

const EDITORIALS: Case[] = [
  editorialCase("an editorial route that fails", "WORKER_HTTP_500", ({ application }) =>
    application.routes.editorial.next({ status: 500, text: "<html>" }),
  ),
  editorialCase("an exhausted budget", "SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED", ({ application, env }) => {
    env.SOCIAL_EDITORIALS_MAX_LLM_CALLS = "3";
    application.editorials.push(EXHAUSTED);
  }),
  editorialCase("three answers without progress", "SOCIAL_EDITORIALS_NO_PROGRESS", ({ application }) =>
    application.editorials.push(STALLED, STALLED, STALLED),
  ),
  editorialCase("a tenant that the route failed on", "SOCIAL_EDITORIALS_TENANT_FAILURES", ({ application }) =>
    application.editorials.push(TENANT_FAILED),
  ),
  editorialCase("a secret that the application does not know", "WORKER_HTTP_401", (fixture) =>
    fixture.secret("SOCIAL_EDITORIALS_CRON_SECRET", "canary-another-editorial-secret"),
  ),
];

const DATA: Case[] = [
  {
    name: "a recipient without a phone",
    prepare: ({ db }) => db.sql`update users set phone = null`,
    exitCode: 1,
    says: { whatsapp: { failed: 1 }, email: clean },
    codes: ["recipient_phone_missing"],
  },
  {
    name: "a timeline entry that cannot be written",
    prepare: ({ db }) => db.sql`alter table timeline_entries add constraint no_entries check (false)`,
    exitCode: 1,
    says: { whatsapp: { partial: 1 } },
  },
  {
    name: "one network of one owner that fails",
    prepare: ({ application }) => application.routes.analysis.next({ status: 404 }),
    exitCode: 0,
    says: { social: { failed: 1 }, whatsapp: clean, email: clean },
    codes: ["APP_HTTP_404"],
  },
  {
    name: "a provider that asks to wait once",
    prepare: ({ email }) => email.routes.send.next({ status: 429, headers: { "retry-after": "1" } }),
    exitCode: 0,
    says: { email: clean },
    codes: [],
  },
];

describe.concurrent("the success heartbeat and the exit status", () => {
  test.each([...PARTS, ...EDITORIALS, ...DATA, ...ANSWERS])(
    "$name",
    async ({ args, prepare, exitCode, says, codes }) => {
      await using fixture = await openFixture({ editorials: true });
      const { tenantId } = await seedOwner(fixture.db.sql);
      await prepare?.(fixture);

      // Without patience: what waiting brings is tested where time is virtual.
      const more = (typeof args === "function" ? args(tenantId) : args) ?? ["--patience", "0"];
      const ended = await fixture.weekly(["--json", ...more]);

      const { summary, stdout, stderr } = ended;
      const isKept = args !== undefined || exitCode !== 0;
      expect(ended.exitCode, stdout).toBe(exitCode);
      expect(summary).toMatchObject({ exitCode, heartbeat: isKept ? "kept" : "written", ...says });
      if (codes !== undefined) expect([...new Set(summary.failures.map(({ code }) => code))]).toEqual(codes);
      expect(fixture.heartbeat.isOld()).toBe(isKept);
      // A run that leaves something out, or writes nothing, leaves no record either.
      const recorded = args === undefined ? [LAST_RUN_FILE] : [];
      expect(readdirSync(fixture.logDir).toSorted()).toEqual([
        ...recorded,
        "weekly_performance_reports.success",
      ]);
      expect(stdout + stderr).not.toContain("<html");
    },
  );
});

/** Log directories that a heartbeat cannot be written to. */
const UNWRITABLE: [string, (fixture: Fixture) => string][] = [
  ["missing", (fixture) => join(fixture.folder, "nowhere")],
  [
    "a file",
    (fixture) => {
      writeFileSync(join(fixture.folder, "a-file"), "");
      return join(fixture.folder, "a-file");
    },
  ],
  // No account can make a file there, not even root.
  ["read-only", () => "/sys"],
];

describe.concurrent("a heartbeat that cannot be written", () => {
  test.each(UNWRITABLE)("a heartbeat fails the run when the log directory is %s", async (_name, logDirOf) => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const ended = await fixture.weekly(["--json"], { env: { OPSCTL_LOG_DIR: logDirOf(fixture) } });
    expect(ended.exitCode, ended.stderr).toBe(1);
    expect(ended.summary).toMatchObject({
      ...{ status: "failed", heartbeat: "failed", whatsapp: clean, email: clean },
      failures: [{ step: "heartbeat", code: "HEARTBEAT_UNWRITABLE" }],
    });
    expect(existsSync(join(fixture.folder, "nowhere"))).toBe(false);
    expect(fixture.heartbeat.isOld()).toBe(true);

    const { summary } = await fixture.weekly(["--json"]);
    expect(summary).toMatchObject({ heartbeat: "written", whatsapp: { reused: 1 }, email: { reused: 1 } });
  });

  test("a heartbeat whose file may not grow leaves the old one whole, and nothing half-written beside it", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    // A disk that is full, as far as this process can tell: each write to a file fails after it was opened.
    const script = 'trap "" XFSZ; ulimit -f 0; exec "$0" weekly --json';
    const program = ["/bin/sh", "-c", script, await opsctlBinary()];
    const ended = await startProgram(program, { env: fixture.env }).ended;
    expect(ended.exitCode, ended.stderr).toBe(1);
    expect(ended.summary).toMatchObject({ heartbeat: "failed", whatsapp: clean, email: clean });
    expect(fixture.heartbeat.isOld()).toBe(true);
    expect(readdirSync(fixture.logDir)).toEqual(["weekly_performance_reports.success"]);
  });

  test("a first heartbeat needs no older one", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    rmSync(fixture.heartbeat.path);
    chmodSync(fixture.logDir, 0o700);
    const { summary } = await fixture.weekly(["--json"]);
    expect(summary.heartbeat).toBe("written");
    expect(JSON.parse(fixture.heartbeat.read())).toMatchObject({ runId: summary.runId });
  });
});

describe.concurrent("the next run", () => {
  test("a run after a refusal of the application resumes what was left", async () => {
    await using fixture = await openFixture();
    for (let i = 0; i < 3; i += 1) await seedOwner(fixture.db.sql);
    fixture.application.outsideMonday = true;
    const refused = await fixture.weekly(["--json", "--concurrency", "1"]);
    expect(fixture.application.ledger).toHaveLength(3);
    expect(refused.summary.reports).toMatchObject({ scopes: 3, completed: 0, failed: 3 });
    fixture.application.outsideMonday = false;
    const resumed = await fixture.weekly(["--json"]);
    expect(resumed.summary).toMatchObject({ exitCode: 0, reports: { completed: 3 }, heartbeat: "written" });
  });

  test("a run after corrected data sends what failed, and nothing twice", async () => {
    await using fixture = await openFixture();
    const { userId } = await seedOwner(fixture.db.sql, { phone: null });
    const first = await fixture.weekly(["--json"]);
    expect(first.summary).toMatchObject({ exitCode: 1, whatsapp: { failed: 1 }, email: { sent: 1 } });
    await fixture.db.sql`update users set phone = '11 97777-1234' where id = ${userId}`;
    const second = await fixture.weekly(["--json"]);
    expect(second.summary).toMatchObject({ exitCode: 0, whatsapp: { sent: 1 }, email: { reused: 1 } });
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([1, 1]);
  });
});

import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { applicationClient } from "../../../lib/providers/application/client.ts";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { Scripted } from "../../standins/standin.ts";
import { seedOwner } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { SECRETS, type WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const ENABLED = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const truncated = (nextCursor: unknown, llmCalls = 3) => ({
  truncated: true,
  nextCursor,
  reasonStopped: "batch",
  llmCalls,
  processed: 3,
  skipped: 0,
  failures: [],
});

async function monday(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql);
  await seedOwner(weekly.db.sql);
  plantHeartbeat(weekly);
  return weekly;
}

const editorialSecrets = (weekly: WeeklyFixture) =>
  weekly.application.ledger.map(({ path, headers }) => [path.split("/").at(-1)!, headers.authorization]);

describe("the editorial drain of runWeekly()", () => {
  test("follows the cursor after the last analysis of all owners, each route with its own secret", async () => {
    const weekly = await monday();
    weekly.application.editorials.push(truncated("c1"), truncated({ after: 7 }, 0));
    const summary = await weekly.run({ editorials: ENABLED });
    expect(summary).toMatchObject({
      status: "success",
      heartbeat: "written",
      editorials: { status: "completed", code: null, calls: 3, llmCalls: 3, tenants: 6, tenantFailures: 0 },
    });
    expect(weekly.application.routes.editorial.calls.map(({ body }) => body)).toEqual([
      { cursor: null, batchSize: 3, maxLlmCalls: 3 },
      { cursor: "c1", batchSize: 3, maxLlmCalls: 3 },
      { cursor: { after: 7 }, batchSize: 3, maxLlmCalls: 3 },
    ]);
    const analysis = ["weekly", `Bearer ${SECRETS.TRIGGER_SECRET}`];
    const editorial = ["social-editorials", `Bearer ${SECRETS.SOCIAL_EDITORIALS_CRON_SECRET}`];
    expect(editorialSecrets(weekly)).toEqual([...Array(4).fill(analysis), ...Array(3).fill(editorial)]);
    const lastSend = Math.max(...weekly.email.ledger.map(({ atMs }) => atMs));
    expect(weekly.application.routes.editorial.calls[0]!.atMs).toBeGreaterThan(lastSend);
  });

  test.each<[string, Scripted | null, Record<string, unknown>[], string, number]>([
    ["401", { status: 401 }, [], "WORKER_HTTP_401", 1],
    ["500", { status: 500 }, [], "WORKER_HTTP_500", 1],
    ["409", { status: 409 }, [], "WORKER_HTTP_409", 1],
    ["a page", "not_json", [], "WORKER_ANSWER_INVALID", 1],
    ["a drop", "drop", [], "WORKER_UNREACHABLE", 1],
    ["truncated as text", null, [{ truncated: "true" }], "WORKER_ANSWER_INVALID", 1],
    ["no truncated", null, [{ nextCursor: "c" }], "WORKER_ANSWER_INVALID", 1],
    [
      "more calls than allowed",
      null,
      [{ truncated: false, llmCalls: 4, failures: [] }],
      "SOCIAL_EDITORIALS_LLM_OVERRUN",
      1,
    ],
    ["the same cursor again", null, Array(4).fill(truncated("c1", 0)), "SOCIAL_EDITORIALS_NO_PROGRESS", 4],
    [
      "a tenant that failed",
      null,
      [{ truncated: false, failures: [{ tenantId: null, code: "x" }] }],
      "SOCIAL_EDITORIALS_TENANT_FAILURES",
      1,
    ],
    [
      "a used-up budget",
      null,
      Array.from({ length: 12 }, (_, i) => truncated(`c${i}`)),
      "SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED",
      10,
    ],
  ])(
    "%s: the step fails, everything else is done, the old heartbeat stays",
    async (_name, scripted, answers, code, calls) => {
      const weekly = await monday();
      weekly.application.editorials.push(...answers);
      weekly.application.routes.editorial.script = () => scripted ?? undefined;
      const summary = await weekly.run({ editorials: ENABLED });
      expect(summary).toMatchObject({
        status: "failed",
        exitCode: 1,
        heartbeat: "kept",
        error: null,
        editorials: { status: "failed", code, calls },
        whatsapp: { sent: 2 },
        email: { sent: 2 },
      });
      expect(summary.failures.map((failure) => failure.code)).toContain(code);
      expect(weekly.application.routes.editorial.calls).toHaveLength(calls);
      expect(isHeartbeatKept(weekly)).toBe(true);
    },
  );

  test("no answer within the limit: WORKER_TIMEOUT, one call, a whole batch of the budget", async () => {
    const weekly = await monday();
    weekly.application.routes.editorial.script = () => "hang";
    const application = applicationClient({
      baseUrl: new URL(weekly.application.url),
      triggerSecret: new Secret(SECRETS.TRIGGER_SECRET),
      editorialSecret: new Secret(SECRETS.SOCIAL_EDITORIALS_CRON_SECRET),
      timeoutsMs: { editorial: 100 },
    });
    expect(await weekly.run({ editorials: ENABLED }, { application })).toMatchObject({
      exitCode: 1,
      editorials: { status: "failed", code: "WORKER_TIMEOUT", calls: 1, llmCalls: 3 },
    });
    expect(weekly.application.routes.editorial.calls).toHaveLength(1);
  });

  test("without its secret no call is made with another one, and the run fails after everything else", async () => {
    const weekly = await monday();
    const editorials = { ...ENABLED, secretPresent: false };
    expect(await weekly.run({ editorials })).toMatchObject({
      exitCode: 1,
      heartbeat: "kept",
      editorials: { status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING", calls: 0 },
      whatsapp: { sent: 2 },
    });
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
  });

  test("a report that failed does not keep the drain from being made", async () => {
    const weekly = await monday();
    await weekly.db.sql.unsafe(`
      create function public.refuse_one() returns trigger language plpgsql as
        $$ begin raise exception 'refused'; end $$;
      create trigger refuse_one before update on weekly_performance_reports
        for each row when (new.status = 'completed') execute function public.refuse_one()`);
    try {
      expect(await weekly.run({ editorials: ENABLED })).toMatchObject({
        exitCode: 1,
        reports: { failed: 2 },
        editorials: { status: "completed", calls: 1 },
      });
    } finally {
      await weekly.db.sql.unsafe("drop function public.refuse_one() cascade");
    }
  });
});

describe("one drain at a time", () => {
  test("a lock that another session holds: skipped without waiting, exit 0, heartbeat kept", async () => {
    const weekly = await monday();
    await weekly.db.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('opsctl.social_editorials', 0))`;
      expect(await weekly.run({ editorials: ENABLED })).toMatchObject({
        status: "success",
        exitCode: 0,
        heartbeat: "kept",
        editorials: { status: "skipped", code: "SOCIAL_EDITORIALS_BUSY", calls: 0 },
      });
    });
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect((await weekly.run({ editorials: ENABLED })).editorials.status).toBe("completed");
  });

  test("two runs at once: the calls of one drain, never mixed with another's", async () => {
    const weekly = await monday();
    const { editorials, routes } = weekly.application;
    editorials.push(...Array.from({ length: 5 }, (_, i) => truncated(`c${i}`, 0)));
    const options: Partial<WeeklyOptions> = { editorials: ENABLED };
    const second = Promise.withResolvers<Awaited<ReturnType<WeeklyFixture["run"]>>>();
    routes.editorial.script = () => {
      if (routes.editorial.calls.length === 2) weekly.run(options).then(second.resolve, second.reject);
      return undefined;
    };
    const drained = weekly.run(options, {
      wrapStore: (store) => ({
        withDrainLock: (drain) =>
          store.withDrainLock((confirm) =>
            drain(async () => {
              if (routes.editorial.calls.length === 3) await second.promise;
              await confirm();
            }),
          ),
      }),
    });
    expect(await drained).toMatchObject({ exitCode: 0, editorials: { status: "completed", calls: 6 } });
    expect(await second.promise).toMatchObject({
      exitCode: 0,
      editorials: { code: "SOCIAL_EDITORIALS_BUSY" },
    });
    const cursors = routes.editorial.calls.map(({ body }) => (body as { cursor: unknown }).cursor);
    expect(cursors).toEqual([null, "c0", "c1", "c2", "c3", "c4"]);
  });

  test("a lock that is lost to another host: no further call, and what was drained is told", async () => {
    const weekly = await monday();
    const other = await weekly.db.sql.reserve();
    weekly.application.editorials.push(truncated("c1"), truncated("c2"));
    const { routes } = weekly.application;
    const summary = await weekly.run(
      { editorials: ENABLED },
      {
        wrapStore: (store) => ({
          withDrainLock: (drain) =>
            store.withDrainLock((confirm) =>
              drain(async () => {
                if (routes.editorial.calls.length === 1) {
                  await weekly.db.sql`
                    select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`;
                  await other`select pg_advisory_lock(hashtextextended('opsctl.social_editorials', 0))`;
                }
                await confirm();
              }),
            ),
        }),
      },
    );
    await other`select pg_advisory_unlock_all()`;
    other.release();
    expect(summary).toMatchObject({
      exitCode: 1,
      heartbeat: "kept",
      editorials: {
        status: "failed",
        code: "SOCIAL_EDITORIALS_LOCK_LOST",
        calls: 1,
        llmCalls: 3,
        tenants: 3,
      },
    });
    expect(routes.editorial.calls).toHaveLength(1);
    expect(await deliveryStates(weekly)).toEqual(["email sent x2", "whatsapp sent x2"]);
  });
});

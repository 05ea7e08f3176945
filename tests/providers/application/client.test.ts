import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { applicationClient } from "../../../lib/providers/application/client.ts";
import { limitMsFor, play } from "../../cases/answer-case.ts";
import { ANALYSIS_ANSWERS, EDITORIAL_ANSWERS } from "../../cases/application-answers.ts";
import { type Application, startApplication } from "../../standins/application.ts";

const TRIGGER = "canary-trigger-secret";
const CRON = "canary-cron-secret";
const TENANT = "11111111-1111-4111-8111-111111111111";
const week = {
  tenantId: TENANT,
  userId: "22222222-2222-4222-8222-222222222222",
  connectionId: "33333333-3333-4333-8333-333333333333",
  windowStart: "2026-03-09T03:00:00Z",
  windowEnd: "2026-03-16T03:00:00Z",
};
const step = { cursor: null, maxLlmCalls: 3 };

let application: Application;
beforeEach(async () => {
  application = await startApplication({ triggerSecret: TRIGGER, cronSecret: CRON, prefix: "/base" });
});
afterEach(async () => await application.stop());

type Changes = { url?: string; trigger?: string; cron?: string | null; limitMs?: number };

function clientOf(changes: Changes = {}) {
  const { url = application.url, trigger = TRIGGER, cron = CRON, limitMs = 60_000 } = changes;
  return applicationClient({
    baseUrl: new URL(`${url}/`),
    triggerSecret: new Secret(trigger),
    editorialSecret: cron === null ? null : new Secret(cron),
    timeoutsMs: { analysis: limitMs, editorial: limitMs },
  });
}

describe("applicationClient().analyzeWeek()", () => {
  test("asks for one connection's week, with the trigger secret", async () => {
    expect(await clientOf().analyzeWeek(week)).toEqual({ status: "ok" });
    expect(application.analyzed).toEqual([week]);
    expect(application.ledger[0]?.headers.authorization).toBe(`Bearer ${TRIGGER}`);
    expect(application.unexpected).toEqual([]);
  });

  test.each(ANALYSIS_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play(application, application.routes.analysis, answer);
    const outcome = await clientOf({ url, limitMs: limitMsFor(answer) }).analyzeWeek(week);
    expect(outcome).toEqual(becomes);
    expect(application.ledger).toHaveLength(answer === "nobody_listens" ? 0 : 1);
  });

  test("another secret, and a call outside Monday, are refused by the stand-in", async () => {
    const refused = { status: "failed", failure: "refused", retryAfterMs: null } as const;
    const other = clientOf({ trigger: "another" });
    expect(await other.analyzeWeek(week)).toEqual({ ...refused, code: "APP_HTTP_401" });
    application.outsideMonday = true;
    expect(await clientOf().analyzeWeek(week)).toEqual({ ...refused, code: "APP_HTTP_409" });
    expect(application.analyzed).toEqual([]);
  });

  test("says that the run was aborted", async () => {
    const outcome = await clientOf().analyzeWeek(week, AbortSignal.abort());
    expect(outcome).toMatchObject({ code: "APP_ABORTED" });
    expect(application.ledger).toHaveLength(0);
  });
});

describe("applicationClient().drainEditorials()", () => {
  /** What an answer of the editorial route is read as; null when it is not taken for one. */
  async function read(json: unknown) {
    application.routes.editorial.next({ status: 200, json });
    const outcome = await clientOf().drainEditorials(step);
    if (outcome.status === "ok") return outcome.answer;
    expect(outcome).toEqual({ status: "failed", code: "WORKER_ANSWER_INVALID" });
    return null;
  }

  test("sends cursor, batch and budget with its own secret", async () => {
    expect(await clientOf().drainEditorials({ cursor: undefined, maxLlmCalls: 2 })).toMatchObject({
      status: "ok",
      answer: { truncated: false, llmCalls: 0, failures: [] },
    });
    expect(application.ledger[0]).toMatchObject({
      path: "/base/api/v1/cron/social-editorials",
      rawBody: '{"cursor":null,"batchSize":3,"maxLlmCalls":2}',
    });
    expect(application.ledger[0]?.headers.authorization).toBe(`Bearer ${CRON}`);
  });

  test.each([["c1"], [17], [{ after: "t", page: [1] }], [null]])(
    "sends the cursor %p back unchanged",
    async (cursor) => {
      application.editorials.push({ truncated: true, nextCursor: cursor });
      const first = await clientOf().drainEditorials(step);
      const nextCursor = first.status === "ok" ? first.answer.nextCursor : "none";
      expect(nextCursor).toEqual(cursor);
      await clientOf().drainEditorials({ cursor: nextCursor, maxLlmCalls: 3 });
      expect(application.ledger[1]?.body).toMatchObject({ cursor });
    },
  );

  test("never uses the trigger secret in the place of a missing one", async () => {
    const outcome = await clientOf({ cron: null }).drainEditorials(step);
    expect(outcome).toEqual({ status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING" });
    expect(application.ledger).toHaveLength(0);
  });

  test.each(EDITORIAL_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play(application, application.routes.editorial, answer);
    expect(await clientOf({ url, limitMs: limitMsFor(answer) }).drainEditorials(step)).toEqual(becomes);
    expect(application.ledger).toHaveLength(answer === "nobody_listens" ? 0 : 1);
  });

  test("fills in what an answer leaves out", async () => {
    expect(await read({ truncated: true })).toEqual({
      truncated: true,
      nextCursor: undefined,
      reasonStopped: null,
      llmCalls: null,
      processed: null,
      skipped: null,
      failures: [],
    });
  });

  test.each([
    [null],
    ["truncated"],
    [[]],
    [{}],
    [{ truncated: "true" }],
    [{ truncated: 1 }],
    [{ truncated: null }],
    [{ truncated: false, llmCalls: -1 }],
    [{ truncated: false, llmCalls: 1.5 }],
    [{ truncated: false, llmCalls: "3" }],
    [{ truncated: false, llmCalls: 2 ** 60 }],
    [{ truncated: false, failures: { [TENANT]: "x" } }],
    [{ truncated: false, failures: "none" }],
  ])("does not take %j for an answer, which would end the drain", async (json) => {
    expect(await read(json)).toBeNull();
  });

  test("bounds every text that the application sent, and loses no failure", async () => {
    const answer = await read({
      truncated: false,
      reasonStopped: "write to ana@client.example",
      processed: -1,
      skipped: "many",
      failures: [
        { tenantId: TENANT.toUpperCase(), code: "llm_timeout" },
        { tenantId: "ana@client.example", code: "x".repeat(65) },
        { code: 17 },
        "broken",
        null,
      ],
    });
    expect(answer).toMatchObject({ reasonStopped: "invalid_code", processed: null, skipped: null });
    expect(answer?.failures).toEqual([
      { tenantId: TENANT, code: "llm_timeout" },
      ...Array.from({ length: 4 }, () => ({ tenantId: null, code: "invalid_code" })),
    ]);
  });
});

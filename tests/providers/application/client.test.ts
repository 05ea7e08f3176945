import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type ApplicationClient, applicationClient } from "../../../lib/providers/application/client.ts";
import { type Application, startApplication } from "../../standins/application.ts";
import { endOf } from "../../standins/given-up.ts";
import { refusedPort } from "../../standins/raw-peer.ts";

const TRIGGER = "canary-trigger-secret";
const CRON = "canary-cron-secret";
const week = {
  tenantId: "11111111-1111-4111-8111-111111111111",
  userId: "22222222-2222-4222-8222-222222222222",
  connectionId: "33333333-3333-4333-8333-333333333333",
  windowStart: "2026-03-09T03:00:00Z",
  windowEnd: "2026-03-16T03:00:00Z",
};
const step = { cursor: null, maxLlmCalls: 3 };

let application: Application;
let client: ApplicationClient;

beforeEach(async () => {
  application = await startApplication({ triggerSecret: TRIGGER, cronSecret: CRON, prefix: "/base" });
  client = clientOf(application.url);
});

afterEach(async () => {
  await application.stop();
});

/** For an application that answers, on the busiest machine. */
const LONG_MS = 60_000;

function clientOf(url: string, options: { trigger?: string; cron?: string | null; limitMs?: number } = {}) {
  const { trigger = TRIGGER, cron = CRON, limitMs = LONG_MS } = options;
  return applicationClient({
    baseUrl: new URL(`${url}/`),
    triggerSecret: new Secret(trigger),
    editorialSecret: cron === null ? null : new Secret(cron),
    timeoutsMs: { analysis: limitMs, editorial: limitMs },
  });
}

describe("applicationClient().analyzeWeek()", () => {
  test("asks for one connection's week, with the trigger secret", async () => {
    expect(await client.analyzeWeek(week)).toEqual({ status: "ok" });
    expect(application.analyzed).toEqual([week]);
    expect(application.ledger[0]?.headers.authorization).toBe(`Bearer ${TRIGGER}`);
    expect(application.unexpected).toEqual([]);
  });

  test("a wrong secret refuses the worker", async () => {
    const wrong = clientOf(application.url, { trigger: "another" });
    expect(await wrong.analyzeWeek(week)).toEqual({
      status: "failed",
      code: "APP_HTTP_401",
      failure: "refused",
      retryAfterMs: null,
    });
    expect(application.analyzed).toEqual([]);
  });

  test("a call outside Monday refuses the worker", async () => {
    application.outsideMonday = true;
    expect(await client.analyzeWeek(week)).toEqual({
      status: "failed",
      code: "APP_HTTP_409",
      failure: "refused",
      retryAfterMs: null,
    });
  });

  test.each([
    ...[302, 400, 403, 404, 418, 422].map((status) => [status, "lasting"] as const),
    ...[408, 429, 500, 502, 503, 504, 599].map((status) => [status, "may_heal"] as const),
  ])("a %i is a failure that is %s", async (status, failure) => {
    application.routes.analysis.next({ status, json: { error: "ana@client.example" } });
    const retryAfterMs = status === 429 ? 1_000 : null;
    const expected = { status: "failed" as const, code: `APP_HTTP_${status}`, failure, retryAfterMs };
    expect(await client.analyzeWeek(week)).toEqual(expected);
    expect(application.ledger).toHaveLength(1);
  });

  test.each([
    ["that calls itself one", { "content-type": "text/html; charset=utf-8" }, '{"ok":true}'],
    ["in capitals", { "content-type": "Text/HTML" }, ""],
    ["of the older kind", { "content-type": "application/xhtml+xml" }, ""],
    ["that calls itself JSON", {}, "<!DOCTYPE html><html><body>Sign in</body></html>"],
    ["after blanks and a byte order mark", {}, "\uFEFF \r\n\t<html>"],
    ["that begins with a comment", { "content-type": "text/plain" }, "<!-- served by the proxy --><html>"],
  ])("a page %s is no success, and may be over soon", async (_name, headers, text) => {
    application.routes.analysis.next({ status: 200, headers, text });
    const expected = { status: "failed" as const, code: "APP_ANSWER_INVALID", failure: "may_heal" as const };
    expect(await client.analyzeWeek(week)).toEqual({ ...expected, retryAfterMs: null });
  });

  test.each(["", "ok", "null", '"<html>"', "< 5", '{"html":"<p>"}', "[]"])(
    "a 2xx with %p is one",
    async (text) => {
      application.routes.analysis.next({ status: 202, text, headers: { "content-type": "text/plain" } });
      expect(await client.analyzeWeek(week)).toEqual({ status: "ok" });
    },
  );

  test("a 429 says how long to wait", async () => {
    application.routes.analysis.next({ status: 429, headers: { "retry-after": "60" } });
    expect(await client.analyzeWeek(week)).toMatchObject({ code: "APP_HTTP_429", retryAfterMs: 60_000 });
  });

  test("an error's page is judged by its status", async () => {
    application.routes.analysis.next({
      status: 404,
      headers: { "content-type": "text/html" },
      text: "<html>",
    });
    expect(await client.analyzeWeek(week)).toMatchObject({ code: "APP_HTTP_404", failure: "lasting" });
  });

  test.each([
    [{ status: 204 }, "ok"],
    ["not_json", "APP_ANSWER_INVALID"],
    ["huge", "ok"],
    ["break_body", "ok"],
    ["stall_body", "APP_TIMEOUT"],
    ["hang", "APP_TIMEOUT"],
    ["drop", "APP_UNREACHABLE"],
    ["drop_unread", "APP_UNREACHABLE"],
    ["not_http", "APP_UNREACHABLE"],
  ] as const)("%p ends as %s", async (scripted, expected) => {
    application.routes.analysis.next(scripted);
    const outcome = await endOf(application, scripted, (limitMs = LONG_MS) =>
      clientOf(application.url, { limitMs }).analyzeWeek(week),
    );
    expect(outcome.status === "ok" ? "ok" : outcome.code).toBe(expected);
    expect(outcome.status === "ok" ? "ok" : outcome.failure).toBe(expected === "ok" ? "ok" : "may_heal");
    expect(application.ledger).toHaveLength(1);
  });

  test("says that nobody listens", async () => {
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    expect(await nobody.analyzeWeek(week)).toMatchObject({ code: "APP_UNREACHABLE", failure: "may_heal" });
  });

  test("says that the run was aborted", async () => {
    expect(await client.analyzeWeek(week, AbortSignal.abort())).toMatchObject({ code: "APP_ABORTED" });
    expect(application.ledger).toHaveLength(0);
  });
});

describe("applicationClient().drainEditorials()", () => {
  test("sends cursor, batch and budget with the dedicated secret", async () => {
    const outcome = await client.drainEditorials({ cursor: null, maxLlmCalls: 2 });
    expect(outcome).toEqual({
      status: "ok",
      answer: {
        truncated: false,
        nextCursor: null,
        reasonStopped: null,
        llmCalls: 0,
        processed: 0,
        skipped: 0,
        failures: [],
      },
    });
    expect(application.ledger[0]).toMatchObject({
      path: "/base/api/v1/cron/social-editorials",
      body: { cursor: null, batchSize: 3, maxLlmCalls: 2 },
    });
    expect(application.ledger[0]?.headers.authorization).toBe(`Bearer ${CRON}`);
  });

  test.each([["c1"], [17], [{ after: "t", page: [1] }], [null]])(
    "sends the cursor %p back unchanged",
    async (cursor) => {
      application.editorials.push({ truncated: true, nextCursor: cursor });
      const first = await client.drainEditorials(step);
      const nextCursor = first.status === "ok" ? first.answer.nextCursor : "none";
      expect(nextCursor).toEqual(cursor);
      await client.drainEditorials({ cursor: nextCursor, maxLlmCalls: 3 });
      expect(application.ledger[1]?.body).toMatchObject({ cursor });
    },
  );

  test("sends null for a cursor that was absent", async () => {
    await client.drainEditorials({ cursor: undefined, maxLlmCalls: 3 });
    expect(application.ledger[0]?.rawBody).toBe('{"cursor":null,"batchSize":3,"maxLlmCalls":3}');
  });

  test("never uses the trigger secret in the place of a missing one", async () => {
    const without = clientOf(application.url, { cron: null });
    const outcome = await without.drainEditorials(step);
    expect(outcome).toEqual({ status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING" });
    expect(application.ledger).toHaveLength(0);
  });

  test.each([302, 400, 409, 429, 500, 503])("a %i ends the step", async (status) => {
    application.routes.editorial.next({ status, json: { truncated: false } });
    expect(await client.drainEditorials(step)).toEqual({ status: "failed", code: `WORKER_HTTP_${status}` });
  });

  test("a wrong secret is a 401", async () => {
    const wrong = clientOf(application.url, { cron: "another" });
    expect(await wrong.drainEditorials(step)).toEqual({ status: "failed", code: "WORKER_HTTP_401" });
  });

  test.each([
    ["hang", "WORKER_TIMEOUT"],
    ["stall_body", "WORKER_TIMEOUT"],
    ["drop", "WORKER_UNREACHABLE"],
    ["break_body", "WORKER_UNREACHABLE"],
    ["not_json", "WORKER_ANSWER_INVALID"],
    ["huge", "WORKER_ANSWER_INVALID"],
  ] as const)("%s ends as %s, after one call", async (fault, code) => {
    application.routes.editorial.next(fault);
    const outcome = await endOf(application, fault, (limitMs = LONG_MS) =>
      clientOf(application.url, { limitMs }).drainEditorials(step),
    );
    expect(outcome).toEqual({ status: "failed", code });
    expect(application.ledger).toHaveLength(1);
  });

  test("says that nobody listens", async () => {
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    expect(await nobody.drainEditorials(step)).toEqual({ status: "failed", code: "WORKER_UNREACHABLE" });
  });
});

import { describe, expect, test } from "bun:test";
import { parseEditorialAnswer } from "../../../lib/providers/application/editorial-answer.ts";

const TENANT = "11111111-1111-4111-8111-111111111111";

describe("parseEditorialAnswer()", () => {
  test("fills in what may be absent", () => {
    expect(parseEditorialAnswer({ truncated: true })).toEqual({
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
    [undefined],
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
  ])("does not take %j for an answer", (json) => {
    expect(parseEditorialAnswer(json)).toBeNull();
  });

  test("bounds every text that the peer sent, and loses no failure", () => {
    const answer = parseEditorialAnswer({
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
      { tenantId: null, code: "invalid_code" },
      { tenantId: null, code: "invalid_code" },
      { tenantId: null, code: "invalid_code" },
      { tenantId: null, code: "invalid_code" },
    ]);
  });
});

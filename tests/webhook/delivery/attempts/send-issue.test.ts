import { describe, expect, test } from "bun:test";
import type { IssueOutcome, NewIssue } from "../../../../lib/providers/issue-outcome.ts";
import type { AttemptResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { issueIdOf } from "../../../../lib/webhook/delivery/attempts/issue-id.ts";
import { issueAttempt, messageAttempt } from "../../../../lib/webhook/delivery/attempts/send-alert.ts";
import { issueTitle, renderIssueBody } from "../../../../lib/webhook/texts/issue/issue.ts";
import { dueRow } from "../../support/due-row.ts";
import { sampleAlert } from "../../support/sample-alert.ts";

const CLAIMED_AT = 1_772_439_330_000;
const ALERT = sampleAlert({ fingerprint: "f1", severity: "critical" });
const ROW = dueRow({ kind: "issue", alert: ALERT, claimedAtMs: CLAIMED_AT });
const LATER = { status: "retry", cause: undefined, stopsChannel: false, peerDown: true, unclear: null };
const url = "https://tracker.example/OPS-1";

describe("issueAttempt()", () => {
  test.each<[IssueOutcome, object]>([
    [
      { status: "created", id: "uuid", identifier: "OPS-1", url },
      { status: "delivered", reference: "OPS-1", url },
    ],
    [
      { status: "created", id: "uuid", identifier: null, url: null },
      { status: "delivered", reference: "uuid", url: null },
    ],
    [
      { status: "refused", code: "tracker_input_refused", stopsChannel: false },
      { status: "refused", code: "tracker_input_refused" },
    ],
    [
      { status: "throttled", code: "tracker_http_429", retryAfterMs: 60_000 },
      { ...LATER, code: "tracker_http_429", retryAfterMs: 60_000 },
    ],
    [
      { status: "unknown", code: "tracker_timeout" },
      { ...LATER, code: "tracker_timeout", retryAfterMs: null },
    ],
  ])("of %j", async (outcome, expected) => {
    const asked: NewIssue[] = [];
    const attempt = issueAttempt({
      createIssue: (issue) => {
        asked.push(issue);
        return Promise.resolve(outcome);
      },
    });
    const result: AttemptResult = await attempt(ROW, new AbortController().signal);
    expect(result).toEqual(expected as never);
    // The id of the claim, by which the tracker knows a repetition.
    const id = issueIdOf("f1", CLAIMED_AT);
    expect(asked).toEqual([
      { id, title: issueTitle(ALERT), description: renderIssueBody(ALERT), priority: 1 },
    ]);
  });
});

describe("messageAttempt() without an instance", () => {
  test.each([true, false])(
    "sends nothing, and others wait, too (we are refused: %p)",
    async (stopsChannel) => {
      const attempt = messageAttempt({
        gateway: { sendText: () => Promise.reject(new Error("Sent without an instance")) },
        findInstance: async () => ({ status: "failed", code: "gateway_unreachable", stopsChannel }),
        phone: "5511912345678",
      });
      expect(await attempt({ ...ROW, kind: "message", text: "text" }, new AbortController().signal)).toEqual({
        ...({ ...LATER, code: "gateway_unreachable", retryAfterMs: null, stopsChannel } as AttemptResult),
      });
    },
  );
});

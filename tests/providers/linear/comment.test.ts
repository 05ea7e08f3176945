import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { NewComment } from "../../../lib/providers/issue-outcome.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { endOf } from "../../standins/given-up.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import type { Fault } from "../../standins/standin.ts";
import { startTracker, type Tracker, trackerError } from "../../standins/tracker.ts";

const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";
const ISSUE = "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11";
const comment: NewComment = {
  id: "0b8f5a7e-3c1d-4e2f-9a6b-7c8d9e0f1a2b",
  issueId: ISSUE,
  body: '✅ Resolvido em "canary" } depois de 4 min.',
};
const CREATED = { status: "created" as const, id: comment.id };

let tracker: Tracker;

beforeEach(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
  await clientOf().createIssue({ id: ISSUE, title: "t", description: "d", priority: 2 });
});

afterEach(async () => {
  await tracker.stop();
});

function clientOf({ url = tracker.endpoint, token = TOKEN, timeoutMs = 60_000 } = {}) {
  return linearTracker({ url: new URL(url), token: new Secret(token), teamId: TEAM, timeoutMs });
}

describe("linearTracker().createComment()", () => {
  test("comments on the issue, the text as a variable only", async () => {
    expect(await clientOf().createComment(comment)).toEqual(CREATED);
    expect(tracker.comments).toMatchObject([comment]);
    const { body } = tracker.ledger.at(-1)!;
    expect(body).toMatchObject({ variables: { input: comment } });
    expect((body as { query: string }).query).not.toContain("canary");
  });

  test.each([400, 200] as const)("counts a repeated comment as created (conflict as %i)", async (status) => {
    tracker.conflictStatus = status;
    await clientOf().createComment(comment);
    expect(await clientOf().createComment({ ...comment, body: "another" })).toEqual(CREATED);
    expect(tracker.comments.map(({ body }) => body)).toEqual([comment.body]);
  });

  test.each<Fault>(["drop", "hang", "break_body", "stall_body", "not_json", "huge", "bomb", "not_http"])(
    "does not know what became of it when the answer is a %s, and creates no second one",
    async (accept) => {
      tracker.routes.graphql.next({ accept });
      const outcome = await endOf(tracker, { accept }, (limitMs) =>
        clientOf(limitMs === undefined ? {} : { timeoutMs: limitMs }).createComment(comment),
      );
      expect(outcome).toMatchObject({ status: "unknown" });
      expect(await clientOf().createComment(comment)).toEqual(CREATED);
      expect(tracker.comments).toHaveLength(1);
    },
  );

  test("is refused on an issue that was deleted, and with another key", async () => {
    tracker.issues.length = 0;
    const refused = { status: "refused" as const, code: "tracker_input_refused", stopsChannel: false };
    expect(await clientOf().createComment(comment)).toEqual(refused);
    const unauthorized = { status: "refused" as const, code: "tracker_unauthorized", stopsChannel: true };
    expect(await clientOf({ token: "lin_api_wrong" }).createComment(comment)).toEqual(unauthorized);
  });

  test("waits for as long as a throttling tracker says", async () => {
    tracker.rateLimit = { "retry-after": "7" };
    const throttled = { status: "throttled" as const, code: "tracker_rate_limited", retryAfterMs: 7_000 };
    expect(await clientOf().createComment(comment)).toEqual(throttled);
  });

  test("may be repeated when the tracker cannot be reached", async () => {
    const url = `http://127.0.0.1:${await refusedPort()}`;
    expect(await clientOf({ url: `${url}/graphql` }).createComment(comment)).toEqual({
      status: "unknown",
      code: "tracker_unreachable",
    });
  });

  const payload = (value: unknown) => ({ status: 200, json: { data: { commentCreate: value } } });
  const missing = "tracker_answer_without_comment";

  test.each<[string, Parameters<Tracker["routes"]["graphql"]["next"]>[0], string]>([
    ["success false", payload({ success: false, comment: { id: comment.id } }), missing],
    ["success as text", payload({ success: "true", comment: { id: comment.id } }), missing],
    ["no comment", payload({ success: true }), missing],
    ["another id", payload({ success: true, comment: { id: ISSUE } }), missing],
    ["payload null", payload(null), missing],
    [
      "a conflict with another id",
      trackerError(400, "conflict on insert of Comment", {
        code: "INPUT_ERROR",
        userPresentableMessage: `Entity Comment with id ${ISSUE} already exists.`,
      }),
      "tracker_conflict_unclear",
    ],
  ])("is not known after an answer with %s", async (_what, answer, code) => {
    tracker.routes.graphql.next(answer);
    expect(await clientOf().createComment(comment)).toEqual({ status: "unknown", code });
  });
});

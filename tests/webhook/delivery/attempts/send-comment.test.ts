import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { linearTracker } from "../../../../lib/providers/linear/client.ts";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import { commentIdOf } from "../../../../lib/webhook/delivery/attempts/comment-id.ts";
import { issueIdOf } from "../../../../lib/webhook/delivery/attempts/issue-id.ts";
import { commentAttempt } from "../../../../lib/webhook/delivery/attempts/send-comment.ts";
import type { DueRow } from "../../../../lib/webhook/state/contract.ts";
import { startTracker, type Tracker } from "../../../standins/tracker.ts";
import { dueRow } from "../../support/due-row.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";

const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";
const CLAIMED_AT = 1_772_439_330_000;
const ISSUE = issueIdOf("f1", CLAIMED_AT);
const END = "2026-03-02T08:57:30Z";

let tracker: Tracker;

beforeEach(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
  await client().createIssue({ id: ISSUE, title: "t", description: "d", priority: 0 });
});

afterEach(async () => {
  await tracker.stop();
});

function client(token = TOKEN) {
  return linearTracker({ url: new URL(tracker.endpoint), token: new Secret(token), teamId: TEAM });
}

/** The comment about the end of the alert whose issue is there. */
function rowOf(changes: Partial<DueRow> = {}, end: Partial<Alert> = {}): DueRow {
  const alert = resolvedAlert({ startsAt: "2026-03-02T08:15:30Z", endsAt: END, ...end });
  return dueRow({ id: 7, kind: "comment", alert, claimedAtMs: CLAIMED_AT, ...changes });
}

const send = (row: DueRow, token?: string) =>
  commentAttempt(client(token))(row, new AbortController().signal);

describe("commentAttempt()", () => {
  test("comments on the alert's issue when it ended and after how long", async () => {
    expect(await send(rowOf())).toMatchObject({ status: "delivered", url: null });
    expect(tracker.comments).toMatchObject([{ issueId: ISSUE, body: expect.stringContaining("42 min") }]);
  });

  test("comments once, however often it is tried, and again at the next end", async () => {
    tracker.routes.graphql.next({ accept: "drop" });
    expect(await send(rowOf())).toMatchObject({ status: "retry", peerDown: true });
    const [first, again] = [await send(rowOf()), await send(rowOf())];
    expect(first).toEqual(again);
    expect(tracker.comments).toHaveLength(1);
    // A backup of the state was put back: the same end has another row.
    expect(await send(rowOf({ id: 8 }))).toEqual(first);
    await send(rowOf({ id: 9 }, { endsAt: "2026-03-02T09:10:00Z" }));
    expect(tracker.comments).toHaveLength(2);
  });

  test("gives up the comment of a deleted issue alone", async () => {
    tracker.issues.length = 0;
    expect(await send(rowOf())).toEqual({ status: "refused", code: "tracker_input_refused" });
  });

  test("waits for as long as the tracker asks", async () => {
    tracker.rateLimit = { "retry-after": "9" };
    expect(await send(rowOf())).toMatchObject({ status: "retry", retryAfterMs: 9_000, stopsChannel: false });
  });
});

describe("commentIdOf()", () => {
  test("is known, so that it survives a restart and a release", () => {
    expect(commentIdOf(ISSUE, { endsAt: END }, 1)).toBe("7dfd5029-b98d-4059-b5f6-a1e362d15e7d");
  });

  test("is that of the end, however the end is written, and of the row where none is known", () => {
    const ids = [END, "2026-03-02T05:57:30-03:00", "2026-03-02T08:57:30.000Z"].map((endsAt) =>
      commentIdOf(ISSUE, { endsAt }, Math.random()),
    );
    expect(new Set(ids).size).toBe(1);
    for (const endsAt of [null, "0001-01-01T00:00:00Z", "canary"])
      expect(commentIdOf(ISSUE, { endsAt }, 1)).not.toBe(commentIdOf(ISSUE, { endsAt }, 2));
  });

  test("differs with the issue and with the end, to the nanosecond", () => {
    const ids = [
      commentIdOf(ISSUE, { endsAt: END }, 1),
      commentIdOf(issueIdOf("f1", CLAIMED_AT + 1), { endsAt: END }, 1),
      commentIdOf(ISSUE, { endsAt: "2026-03-02T08:57:30.000000001Z" }, 1),
    ];
    expect(new Set([...ids, ISSUE]).size).toBe(4);
  });

  test("is a UUID of version 4", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.option(fc.string(), { nil: null }), fc.nat(), (issue, endsAt, row) => {
        expect(commentIdOf(issue, { endsAt }, row)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });
});

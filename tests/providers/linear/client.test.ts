import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { NewComment, NewIssue } from "../../../lib/providers/issue-outcome.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { limitMsFor, play } from "../../cases/answer-case.ts";
import {
  ACCESS_ANSWERS,
  CONFLICTS,
  ISSUE_ID,
  REFUSED_ISSUES,
  TEAM_ID,
  UNCLEAR_ISSUES,
} from "../../cases/tracker-answers.ts";
import { refusedPort, startDropper, startTlsPeer } from "../../standins/raw-peer.ts";
import type { Answer, Fault, Scripted } from "../../standins/standin.ts";
import { startTracker, type Tracker, trackerError } from "../../standins/tracker.ts";

const TOKEN = "lin_api_canary";
const issue: NewIssue = {
  id: ISSUE_ID,
  title: '[ALERTA][infra] CPU "alta" } canary-title',
  description: "canary-description\n\n| a | b |",
  priority: 2,
};
const comment: NewComment = {
  id: "0b8f5a7e-3c1d-4e2f-9a6b-7c8d9e0f1a2b",
  issueId: ISSUE_ID,
  body: '✅ Resolvido em "canary" } depois de 4 min.',
};

let tracker: Tracker;
let records: CallRecord[];

beforeEach(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM_ID });
  records = [];
});

afterEach(async () => await tracker.stop());

type Changes = { url?: string; token?: string; teamId?: string; timeoutMs?: number };

function clientOf(changes: Changes = {}) {
  const { url = tracker.endpoint, token = TOKEN, teamId = TEAM_ID, timeoutMs = 60_000 } = changes;
  const onCall = (record: CallRecord) => records.push(record);
  return linearTracker({ url: new URL(url), token: new Secret(token), teamId, timeoutMs, onCall });
}

/** A client with the time limit for this answer, which the tracker gives to the next call. */
function answered(answer: Scripted) {
  tracker.routes.graphql.next(answer);
  return clientOf({ timeoutMs: limitMsFor(answer) });
}

const link = "https://linear.app/example/issue/ENG-1";
const created = { status: "created" as const, id: ISSUE_ID, identifier: "ENG-1", url: link };
const unknown = (code: string) => ({ status: "unknown" as const, code });
const refused = (code: string, stopsChannel = false) => ({ status: "refused" as const, code, stopsChannel });

describe("linearTracker().createIssue()", () => {
  test("creates the issue in its team, its texts as variables only", async () => {
    expect(await clientOf().createIssue(issue)).toEqual(created);
    expect(tracker.issues).toMatchObject([{ ...issue, teamId: TEAM_ID }]);
    const { headers, body, path } = tracker.ledger[0]!;
    expect(path).toBe("/graphql");
    expect(headers.authorization).toBe(TOKEN);
    expect(body).toMatchObject({ variables: { input: { ...issue, teamId: TEAM_ID } } });
    expect((body as { query: string }).query).not.toContain("canary");
    expect(tracker.routes.graphql.calls).toHaveLength(1);
  });

  test("sends a token of another kind as a bearer", async () => {
    tracker.token = "oauth-canary";
    expect(await clientOf({ token: "oauth-canary" }).createIssue(issue)).toEqual(created);
    expect(tracker.ledger[0]?.headers.authorization).toBe("Bearer oauth-canary");
  });

  test.each(REFUSED_ISSUES)("nothing was created after $name", async ({ answer, becomes }) => {
    await play(tracker, tracker.routes.graphql, answer);
    expect(await clientOf().createIssue(issue)).toEqual(becomes);
    expect(tracker.ledger).toHaveLength(1);
  });

  test.each(CONFLICTS)("an earlier call created it: %s", async (_name, answer) => {
    const outcome = await answered({ accept: answer }).createIssue(issue);
    expect(outcome).toEqual(created);
    expect(tracker.ledger.map(({ body }) => body)).toMatchObject([{}, { variables: { id: ISSUE_ID } }]);
  });

  test.each(UNCLEAR_ISSUES)(
    "it may be there after $name, and is not created twice",
    async ({ answer, becomes }) => {
      const given = answer as Answer | Fault;
      expect(await answered(given).createIssue(issue)).toEqual(becomes);
      expect(await answered({ accept: given }).createIssue(issue)).toEqual(becomes);
      expect(await clientOf().createIssue(issue)).toEqual(created);
      expect(tracker.issues).toHaveLength(1);
      expect(tracker.unexpected).toHaveLength(0);
      // A question on the connection of a lost call could be answered with that call's answer.
      expect(new Set(tracker.ledger.map(({ connection }) => connection)).size).toBe(4);
    },
  );

  test.each([400, 200] as const)("counts a repeated creation as created (conflict as %i)", async (status) => {
    tracker.conflictStatus = status;
    await clientOf().createIssue(issue);
    expect(await clientOf().createIssue({ ...issue, title: "another" })).toEqual(created);
    expect(tracker.issues.map(({ title }) => title)).toEqual([issue.title]);
    expect(tracker.lookups).toEqual([ISSUE_ID]);
  });

  test.each(["drop", "not_json"] as const)(
    "counts a repeated creation as created when it cannot be read back (%s)",
    async (fault) => {
      await clientOf().createIssue(issue);
      tracker.routes.graphql.script = () => (tracker.ledger.length === 3 ? fault : undefined);
      expect(await clientOf().createIssue(issue)).toEqual({ ...created, identifier: null, url: null });
      expect(tracker.ledger).toHaveLength(3);
    },
  );

  test("may be repeated when nothing was sent", async () => {
    const tls = await startTlsPeer("{}");
    const dropper = await startDropper();
    const urls = [
      `http://127.0.0.1:${await refusedPort()}/graphql`,
      "http://no-such-host.invalid/graphql",
      `https://localhost:${tls.port}/graphql`,
      `https://localhost:${dropper.port}/graphql`,
    ];
    for (const url of urls)
      expect(await clientOf({ url }).createIssue(issue)).toEqual(unknown("tracker_unreachable"));
    expect(records.map(({ class: kind }) => kind)).toEqual(Array(4).fill("not_sent"));
    await Promise.all([tls.stop(), dropper.stop()]);
  });

  test("begins nothing after an abort, and is not sure of what an abort interrupts", async () => {
    const aborted = unknown("tracker_aborted");
    expect(await clientOf().createIssue(issue, AbortSignal.abort())).toEqual(aborted);
    expect(tracker.ledger).toHaveLength(0);
    const shutdown = new AbortController();
    tracker.routes.graphql.script = () => {
      shutdown.abort();
      return { accept: "hang" };
    };
    expect(await clientOf().createIssue(issue, shutdown.signal)).toEqual(aborted);
    expect(tracker.ledger).toHaveLength(1);
  });

  test.each<[string, unknown, string | null]>([
    ["usual", "https://linear.app/x/issue/ENG-1/slug", "https://linear.app/x/issue/ENG-1/slug"],
    ["plain", "http://localhost/ENG-1", "http://localhost/ENG-1"],
    ["another scheme", "javascript:alert(1)", null],
    ["a blank", "https://linear.app/ENG 1", null],
    ["a line", "https://linear.app/\nENG-1", null],
    ["markup", "https://linear.app/<b>", null],
    ["no host", "https://", null],
    ["500 characters", `https://linear.app/${"a".repeat(481)}`, `https://linear.app/${"a".repeat(481)}`],
    ["501 characters", `https://linear.app/${"a".repeat(482)}`, null],
    ["no text", 7, null],
    ["absent", undefined, null],
  ])("keeps a link only when it is one: %s", async (_row, url, expected) => {
    const identifier = expected === null ? "x\ny" : "ENG-12";
    const json = { data: { issueCreate: { success: true, issue: { id: ISSUE_ID, identifier, url } } } };
    const outcome = await answered({ status: 200, json }).createIssue(issue);
    expect(outcome).toEqual({ ...created, identifier: expected === null ? null : "ENG-12", url: expected });
  });

  test("logs neither the token nor a text of the issue", async () => {
    const outcomes = [
      await answered({ accept: "drop" }).createIssue(issue),
      await clientOf({ token: "lin_api_canary\nx" }).createIssue(issue),
      await clientOf({ token: "lin_api_canary2" }).createIssue(issue),
      await clientOf().checkAccess(),
    ];
    expect(records).toHaveLength(4);
    expect(records.every(({ peer, path }) => peer === "tracker" && path === "/graphql")).toBe(true);
    expect(JSON.stringify([records, outcomes])).not.toMatch(/canary/);
  });
});

describe("linearTracker() waits for the rate", () => {
  const HOUR_MS = 3_600_000;
  const inSeconds = (seconds: number) => String(Date.now() / 1_000 + seconds);
  const inMilliseconds = (seconds: number) => String(Date.now() + seconds * 1_000);

  test.each<[string, () => Record<string, string>, number]>([
    ["a second when nothing is said", () => ({}), 1_000],
    ["retry-after", () => ({ "retry-after": "12", "x-ratelimit-requests-reset": inSeconds(600) }), 12_000],
    ["an hour at most", () => ({ "retry-after": "86400" }), HOUR_MS],
    ["a second at least", () => ({ "retry-after": "0" }), 1_000],
    ["a second when it is no number", () => ({ "retry-after": "soon" }), 1_000],
    ["the requests' reset in seconds", () => ({ "x-ratelimit-requests-reset": inSeconds(600) }), 600_000],
    ["the same in milliseconds", () => ({ "x-ratelimit-requests-reset": inMilliseconds(600) }), 600_000],
    ["the complexity's reset", () => ({ "x-ratelimit-complexity-reset": inSeconds(450) }), 450_000],
    [
      "the later reset",
      () => ({
        "x-ratelimit-requests-reset": inSeconds(600),
        "x-ratelimit-complexity-reset": inMilliseconds(900),
      }),
      900_000,
    ],
    [
      "the reset of the empty bucket",
      () => ({
        "x-ratelimit-requests-reset": inSeconds(600),
        "x-ratelimit-requests-remaining": "0",
        "x-ratelimit-complexity-reset": inSeconds(900),
        "x-ratelimit-complexity-remaining": "1000",
      }),
      600_000,
    ],
    ["a second after a reset in the past", () => ({ "x-ratelimit-requests-reset": inSeconds(-60) }), 1_000],
    ["an hour for a reset in a day", () => ({ "x-ratelimit-requests-reset": inSeconds(86_400) }), HOUR_MS],
    ["a second for a reset that is no time", () => ({ "x-ratelimit-requests-reset": "-5" }), 1_000],
    [
      "a second for a reset beyond all times",
      () => ({ "x-ratelimit-requests-reset": "9".repeat(40) }),
      1_000,
    ],
  ])("%s", async (_row, headers, expected) => {
    tracker.rateLimit = headers();
    for (const call of [clientOf().createIssue(issue), clientOf().createComment(comment)]) {
      const outcome = await call;
      expect(outcome).toMatchObject({ status: "throttled", code: "tracker_rate_limited" });
      // Resets are instants: what the call itself took is no longer waited for.
      const { retryAfterMs } = outcome as { retryAfterMs: number };
      expect(retryAfterMs).toBeLessThanOrEqual(expected);
      expect(retryAfterMs).toBeGreaterThan(expected - 60_000);
    }
    expect(tracker.lookups).toHaveLength(0);
  });
});

describe("linearTracker().createComment()", () => {
  const done = { status: "created" as const, id: comment.id };
  beforeEach(async () => void (await clientOf().createIssue(issue)));

  test("comments on the issue, the text as a variable only", async () => {
    expect(await clientOf().createComment(comment)).toEqual(done);
    expect(tracker.comments).toMatchObject([comment]);
    const { body } = tracker.ledger.at(-1)!;
    expect(body).toMatchObject({ variables: { input: comment } });
    expect((body as { query: string }).query).not.toContain("canary");
  });

  test.each([400, 200] as const)("counts a repeated comment as created (conflict as %i)", async (status) => {
    tracker.conflictStatus = status;
    await clientOf().createComment(comment);
    expect(await clientOf().createComment({ ...comment, body: "another" })).toEqual(done);
    expect(tracker.comments.map(({ body }) => body)).toEqual([comment.body]);
  });

  test.each<Fault>(["drop", "hang", "break_body", "not_json"])(
    "does not know the result when the answer is a %s, and creates no second one",
    async (accept) => {
      expect(await answered({ accept }).createComment(comment)).toMatchObject({ status: "unknown" });
      expect(await clientOf().createComment(comment)).toEqual(done);
      expect(tracker.comments).toHaveLength(1);
    },
  );

  test("is refused on an issue that was deleted, and with another key; nothing is known of one nobody heard", async () => {
    tracker.issues.length = 0;
    expect(await clientOf().createComment(comment)).toEqual(refused("tracker_input_refused"));
    const wrong = clientOf({ token: "lin_api_wrong" });
    expect(await wrong.createComment(comment)).toEqual(refused("tracker_unauthorized", true));
    const nobody = clientOf({ url: `http://127.0.0.1:${await refusedPort()}/graphql` });
    expect(await nobody.createComment(comment)).toEqual(unknown("tracker_unreachable"));
  });

  const payload = (value: unknown) => ({ status: 200, json: { data: { commentCreate: value } } });
  const missing = "tracker_answer_without_comment";
  test.each<[string, Answer, string]>([
    ["success false", payload({ success: false, comment: { id: comment.id } }), missing],
    ["success as text", payload({ success: "true", comment: { id: comment.id } }), missing],
    ["no comment", payload({ success: true }), missing],
    ["another id", payload({ success: true, comment: { id: ISSUE_ID } }), missing],
    ["payload null", payload(null), missing],
    [
      "a conflict with another id",
      trackerError(400, "conflict on insert of Comment", {
        code: "INPUT_ERROR",
        userPresentableMessage: `Entity Comment with id ${ISSUE_ID} already exists.`,
      }),
      "tracker_conflict_unclear",
    ],
  ])("is not known after an answer with %s", async (_what, answer, code) => {
    expect(await answered(answer).createComment(comment)).toEqual(unknown(code));
  });
});

describe("linearTracker().checkAccess()", () => {
  test.each(ACCESS_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play({ url: tracker.endpoint }, tracker.routes.graphql, answer);
    expect(await clientOf({ url, timeoutMs: limitMsFor(answer) }).checkAccess()).toBe(becomes);
  });

  test("is content with a token and a team that the stand-in knows", async () => {
    const team = (teamId: string) => clientOf({ teamId }).checkAccess();
    expect(await clientOf().checkAccess()).toBeNull();
    expect(await team("00000000-0000-4000-8000-000000000000")).toBe("tracker_team_missing");
    expect(await team("ENG")).toBe("tracker_team_missing");
    expect(await clientOf({ token: "lin_api_wrong" }).checkAccess()).toBe("tracker_unauthorized");
    expect(tracker.issues).toHaveLength(0);
  });
});

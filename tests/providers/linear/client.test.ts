import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { NewIssue } from "../../../lib/providers/issue-outcome.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { endOf } from "../../standins/given-up.ts";
import { refusedPort, startDropper, startTlsPeer } from "../../standins/raw-peer.ts";
import type { Fault, Scripted } from "../../standins/standin.ts";
import { startTracker, type Tracker, trackerError } from "../../standins/tracker.ts";

const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";
const issue: NewIssue = {
  id: "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11",
  title: '[ALERTA][infra] CPU "alta" } canary-title',
  description: "canary-description\n\n| a | b |",
  priority: 2,
};

let tracker: Tracker;
let records: CallRecord[];

beforeEach(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
  records = [];
});

afterEach(async () => {
  await tracker.stop();
});

/** For a tracker that answers, on the busiest machine. */
const LONG_MS = 60_000;

function clientOf(changes: { url?: string; token?: string; teamId?: string; timeoutMs?: number } = {}) {
  const { url = tracker.endpoint, token = TOKEN, teamId = TEAM, timeoutMs = LONG_MS } = changes;
  const onCall = (record: CallRecord) => records.push(record);
  return linearTracker({ url: new URL(url), token: new Secret(token), teamId, timeoutMs, onCall });
}

/** Makes a call, which is given up where the tracker gives no answer. */
const ended = <Result>(fault: Scripted, call: (client: ReturnType<typeof clientOf>) => Promise<Result>) =>
  endOf(tracker, fault, (timeoutMs = LONG_MS) => call(clientOf({ timeoutMs })));

const created = () => ({
  status: "created" as const,
  id: issue.id,
  identifier: "ENG-1",
  url: "https://linear.app/example/issue/ENG-1",
});

describe("linearTracker().createIssue()", () => {
  test("creates the issue in its team, its texts as variables only", async () => {
    expect(await clientOf().createIssue(issue)).toEqual(created());
    expect(tracker.issues).toMatchObject([{ ...issue, teamId: TEAM }]);
    const { headers, body, path } = tracker.ledger[0]!;
    expect(path).toBe("/graphql");
    expect(headers.authorization).toBe(TOKEN);
    expect(body).toMatchObject({ variables: { input: { ...issue, teamId: TEAM } } });
    expect((body as { query: string }).query).not.toContain("canary");
    expect(tracker.routes.graphql.calls).toHaveLength(1);
  });

  test("sends a token of another kind as a bearer", async () => {
    tracker.token = "oauth-canary";
    expect(await clientOf({ token: "oauth-canary" }).createIssue(issue)).toEqual(created());
    expect(tracker.ledger[0]?.headers.authorization).toBe("Bearer oauth-canary");
  });

  test.each([400, 200] as const)("counts a repeated creation as created (conflict as %i)", async (status) => {
    tracker.conflictStatus = status;
    await clientOf().createIssue(issue);
    expect(await clientOf().createIssue({ ...issue, title: "another" })).toEqual(created());
    expect(tracker.issues.map(({ title }) => title)).toEqual([issue.title]);
    expect(tracker.lookups).toEqual([issue.id]);
  });

  test.each<Fault>(["drop", "not_json", "hang"])(
    "counts a repeated creation as created when it cannot be read back (%s)",
    async (fault) => {
      await clientOf().createIssue(issue);
      tracker.routes.graphql.script = () => (tracker.ledger.length === 3 ? fault : undefined);
      const outcome = await ended(fault, (client) => client.createIssue(issue));
      expect(outcome).toEqual({ ...created(), identifier: null, url: null });
      expect(tracker.ledger).toHaveLength(3);
    },
  );

  test.each<Fault>(["drop", "hang", "break_body", "stall_body", "not_json", "huge", "bomb", "not_http"])(
    "finds an issue that was created before a %s, without creating it twice",
    async (accept) => {
      tracker.routes.graphql.next({ accept });
      expect(await ended({ accept }, (client) => client.createIssue(issue))).toEqual(created());
      expect(tracker.issues).toHaveLength(1);
      expect(tracker.routes.graphql.calls).toHaveLength(2);
      const [first, second] = tracker.routes.graphql.calls;
      expect(first!.connection).not.toBe(second!.connection);
    },
  );

  test.each<Fault>(["drop", "drop_unread", "hang"])(
    "does not know an issue that is not there after a %s, and creates it when repeated",
    async (fault) => {
      tracker.routes.graphql.next(fault);
      const code = fault === "hang" ? "tracker_timeout" : "tracker_connection_lost";
      const outcome = await ended(fault, (client) => client.createIssue(issue));
      expect(outcome).toEqual({ status: "unknown", code });
      expect(tracker.lookups).toEqual([issue.id]);
      expect(await clientOf().createIssue(issue)).toEqual(created());
    },
  );

  test("does not take a look-up that is refused for a missing issue", async () => {
    const refusedKey = trackerError(200, "Authentication required, not authenticated", {
      code: "AUTHENTICATION_ERROR",
    });
    tracker.routes.graphql.next({ accept: "drop" }, refusedKey);
    expect(await clientOf().createIssue(issue)).toEqual({
      status: "unknown",
      code: "tracker_connection_lost",
    });
    expect(await clientOf().createIssue(issue)).toEqual(created());
    expect(tracker.issues).toHaveLength(1);
  });

  test("knows the tracker's own refusals", async () => {
    for (const status of [401, 200] as const) {
      tracker.authStatus = status;
      expect(await clientOf({ token: "lin_api_wrong" }).createIssue(issue)).toEqual({
        status: "refused",
        code: "tracker_unauthorized",
        stopsChannel: true,
      });
    }
    const refused = (code: string) => ({ status: "refused" as const, code, stopsChannel: false });
    const elsewhere = clientOf({ teamId: "00000000-0000-4000-8000-000000000000" });
    expect(await elsewhere.createIssue(issue)).toEqual(refused("tracker_input_refused"));
    const badId = { ...issue, id: "3f2b9c1e-7d44-1a7e-9a55-0c9c6f0f2e11" };
    expect(await clientOf().createIssue(badId)).toEqual(refused("tracker_input_refused"));
    tracker.issueLimit = 0;
    expect(await clientOf().createIssue(issue)).toEqual(refused("tracker_usage_limit"));
    expect(tracker.issues).toHaveLength(0);
    expect(tracker.lookups).toHaveLength(0);
  });

  test("waits for the rate as the tracker says", async () => {
    tracker.rateLimit = { "x-ratelimit-requests-reset": String(Date.now() + 90_000) };
    const outcome = await clientOf().createIssue(issue);
    expect(outcome).toMatchObject({ status: "throttled", code: "tracker_rate_limited" });
    const { retryAfterMs } = outcome as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(1_000);
    expect(retryAfterMs).toBeLessThanOrEqual(90_000);
    tracker.rateLimit = { "retry-after": "7" };
    expect(await clientOf().createIssue(issue)).toMatchObject({ retryAfterMs: 7_000 });
    expect(tracker.lookups).toHaveLength(0);
  });

  test("may be repeated when nothing was sent, and looks nothing up then", async () => {
    const tls = await startTlsPeer("{}");
    const dropper = await startDropper();
    const urls = [
      `http://127.0.0.1:${await refusedPort()}/graphql`,
      "http://no-such-host.invalid/graphql",
      `https://localhost:${tls.port}/graphql`,
      `https://localhost:${dropper.port}/graphql`,
    ];
    for (const url of urls) {
      const outcome = await clientOf({ url }).createIssue(issue);
      expect(outcome).toEqual({ status: "unknown", code: "tracker_unreachable" });
    }
    expect(records.map(({ class: kind }) => kind)).toEqual(Array(4).fill("not_sent"));
    await Promise.all([tls.stop(), dropper.stop()]);
  });

  test("begins nothing after an abort, and is not sure of what an abort interrupts", async () => {
    const aborted = { status: "unknown" as const, code: "tracker_aborted" };
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
    const json = { data: { issueCreate: { success: true, issue: { id: issue.id, identifier, url } } } };
    tracker.routes.graphql.next({ status: 200, json });
    const outcome = await clientOf().createIssue(issue);
    expect(outcome).toEqual({
      ...created(),
      identifier: expected === null ? null : "ENG-12",
      url: expected,
    });
  });

  test("tells the log neither the token nor a text of the issue", async () => {
    tracker.routes.graphql.next({ accept: "drop" });
    const outcomes = [
      await clientOf().createIssue(issue),
      await clientOf({ token: "lin_api_canary\nx" }).createIssue(issue),
      await clientOf({ token: "lin_api_canary2" }).createIssue(issue),
      await clientOf().checkAccess(),
    ];
    expect(records.length).toBeGreaterThanOrEqual(5);
    expect(records.every(({ peer, path }) => peer === "tracker" && path === "/graphql")).toBe(true);
    expect(JSON.stringify([records, outcomes])).not.toMatch(/canary/);
  });
});

describe("linearTracker().checkAccess()", () => {
  test("is content with a key and a team that the tracker knows", async () => {
    expect(await clientOf().checkAccess()).toBeNull();
    expect(tracker.issues).toHaveLength(0);
  });

  test("says what is wrong", async () => {
    const team = (teamId: string) => clientOf({ teamId }).checkAccess();
    expect(await team("00000000-0000-4000-8000-000000000000")).toBe("tracker_team_missing");
    expect(await team("ENG")).toBe("tracker_team_missing");
    expect(await clientOf({ token: "lin_api_wrong" }).checkAccess()).toBe("tracker_unauthorized");
    const nobody = `http://127.0.0.1:${await refusedPort()}/graphql`;
    expect(await clientOf({ url: nobody }).checkAccess()).toBe("tracker_unreachable");
    const forbidden = trackerError(403, "no", { type: "forbidden" });
    const json = { data: { viewer: null, teams: { nodes: [{ id: TEAM }] } } };
    tracker.routes.graphql.next("hang", "not_json", { status: 502, text: "<html>" }, forbidden, {
      status: 200,
      json,
    });
    const said = [await ended("hang", (client) => client.checkAccess())];
    for (let more = 0; more < 4; more += 1) said.push(await clientOf().checkAccess());
    expect(said).toEqual([
      "tracker_timeout",
      "tracker_answer_unreadable",
      "tracker_http_502",
      "tracker_forbidden",
      "tracker_answer_unreadable",
    ]);
    tracker.rateLimit = {};
    expect(await clientOf().checkAccess()).toBe("tracker_rate_limited");
  });
});

/** The issue tracker, Linear: each new alert becomes an issue there, its end a comment on it. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, callPeer } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import type { CommentOutcome, IssueOutcome, IssueTracker } from "../issue-outcome.ts";
import { readTrackerAnswer, readTrackerCall, type TrackerAnswer } from "./answer.ts";
import { CHECK_ACCESS, CREATE_COMMENT, CREATE_ISSUE, READ_ISSUE } from "./query.ts";

/** Longest time of one call. */
const LINEAR_TIMEOUT_MS = 30_000;

/**
 * The client of the issue tracker.
 *
 * Shape:     `url` is the whole endpoint.
 * Behaviour: the ids of issue and comment are idempotency keys: what may have been created is created again with the
 *            same id, ends in the tracker's conflict and counts as created. An issue's link is read then.
 * Errors:    none thrown; `readTrackerAnswer` decides by the body what an answer means.
 * Source:    github.com/linear/linear at 8335e09 (@linear/sdk 88.3.0), `packages/sdk/src/schema.graphql` and
 *            `client.ts`, read 2026-11-21.
 */
export function linearTracker(options: {
  url: URL;
  token: Secret;
  teamId: string;
  timeoutMs?: number;
  onCall?: (record: CallRecord) => void;
}): IssueTracker {
  const { teamId } = options;
  const call = trackerCall(options);

  async function readBack(id: string, signal?: AbortSignal): Promise<IssueOutcome> {
    const answer = await call(READ_ISSUE, { id }, { signal });
    const issue = answer.status === "data" ? member(answer.data, "issue") : null;
    return createdOf(issue, id) ?? { status: "created", id, identifier: null, url: null };
  }

  return {
    async createIssue({ id, title, description, priority }, signal) {
      const input = { id, teamId, title, description, priority };
      const answer = await call(CREATE_ISSUE, { input }, { id, signal });
      return answer.status === "exists" ? readBack(id, signal) : outcomeOf(answer, id);
    },
    async createComment(comment, signal) {
      const { id } = comment;
      const answer = await call(CREATE_COMMENT, { input: comment }, { id, signal });
      return answer.status === "exists" ? { status: "created", id } : commentOutcome(answer, id);
    },
    async checkAccess(signal) {
      return accessProblem(await call(CHECK_ACCESS, { filter: { id: { eq: teamId } } }, { signal }), teamId);
    },
  };
}

/** `id` is the issue or the comment that the call creates. */
type CallContext = { id?: string; signal?: AbortSignal | undefined };

function trackerCall(options: Parameters<typeof linearTracker>[0]) {
  const { url, token, timeoutMs = LINEAR_TIMEOUT_MS, onCall } = options;
  return async (
    query: string,
    variables: Record<string, unknown>,
    { id, signal }: CallContext,
  ): Promise<TrackerAnswer> => {
    const result = await callPeer({
      peer: "tracker",
      method: "POST",
      url,
      headers: { authorization: authorizationOf(token) },
      body: { query, variables },
      timeoutMs,
      signal,
      definitive: (answer) => readTrackerAnswer(answer, id ?? null, Date.now()).status !== "unclear",
      onCall,
    });
    return readTrackerCall(result, id ?? null, Date.now());
  };
}

// A personal key is sent as it is, and refused with `Bearer`; every other token needs it.
function authorizationOf(token: Secret): string {
  const value = token.open();
  return value.startsWith("lin_api_") ? value : `Bearer ${value}`;
}

type Answered = Exclude<TrackerAnswer, { status: "exists" }>;

function outcomeOf(answer: Answered, id: string): IssueOutcome {
  if (answer.status !== "data") return undone(answer);
  const payload = member(answer.data, "issueCreate");
  const created = member(payload, "success") === true ? createdOf(member(payload, "issue"), id) : null;
  return created ?? { status: "unknown", code: "tracker_answer_without_issue" };
}

function commentOutcome(answer: Answered, id: string): CommentOutcome {
  if (answer.status !== "data") return undone(answer);
  const payload = member(answer.data, "commentCreate");
  const isOurs = isSameId(member(member(payload, "comment"), "id"), id);
  if (member(payload, "success") === true && isOurs) return { status: "created", id };
  return { status: "unknown", code: "tracker_answer_without_comment" };
}

function undone(
  answer: Exclude<Answered, { status: "data" }>,
): Exclude<CommentOutcome, { status: "created" }> {
  switch (answer.status) {
    case "refused":
      return { status: "refused", code: answer.code, stopsChannel: answer.stopsChannel };
    case "throttled":
      return { status: "throttled", code: answer.code, retryAfterMs: answer.retryAfterMs };
    case "not_sent":
    case "unclear":
      return { status: "unknown", code: answer.code };
  }
}

function createdOf(issue: unknown, id: string): IssueOutcome | null {
  if (!isSameId(member(issue, "id"), id)) return null;
  return {
    status: "created",
    id,
    identifier: identifierOf(member(issue, "identifier")),
    url: linkOf(member(issue, "url")),
  };
}

function isSameId(value: unknown, id: string): boolean {
  return typeof value === "string" && value.toLowerCase() === id.toLowerCase();
}

function identifierOf(value: unknown): string | null {
  return typeof value === "string" && /^[A-Z][A-Z0-9]{0,15}-[0-9]{1,10}$/.test(value) ? value : null;
}

// Goes into messages unchanged, so no character that could end a link or a line.
function linkOf(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 500 || !/^https?:\/\/[^\s"'<>\\`|]+$/i.test(value))
    return null;
  return URL.canParse(value) && /^[\x21-\x7e]+$/.test(value) ? value : null;
}

function accessProblem(answer: TrackerAnswer, teamId: string): string | null {
  switch (answer.status) {
    case "data": {
      if (typeof member(member(answer.data, "viewer"), "id") !== "string") return "tracker_answer_unreadable";
      const teams = member(member(answer.data, "teams"), "nodes");
      if (!Array.isArray(teams)) return "tracker_answer_unreadable";
      return teams.some((team) => isSameId(member(team, "id"), teamId)) ? null : "tracker_team_missing";
    }
    case "exists":
      return "tracker_answer_unreadable";
    default:
      // The team is the only input of this query.
      return answer.code === "tracker_input_refused" ? "tracker_team_missing" : answer.code;
  }
}

import type { CommentOutcome, IssueOutcome, IssueTracker } from "../../providers/issue-outcome.ts";
import { commentIdOf } from "../store/ids.ts";
import { issuePriority, issueTitle, renderIssueBody, renderResolvedComment } from "../texts/issue/issue.ts";
import { type Attempt, type AttemptResult, retry } from "./attempt.ts";

/** What the tracker leaves open of one row alone: others do not end the same way. */
const OF_ONE_ROW = /^tracker_(?:http_(?:400|409|422)|conflict_unclear|lock_timeout|answer_without_issue)$/;

/**
 * Creates the issue of a row; a repeated creation has the same id, by which the tracker knows it.
 *
 * Shape: needs the tracker's client.
 */
export function issueAttempt(tracker: Pick<IssueTracker, "createIssue">): Attempt {
  return async ({ alert, issueId }, signal) => {
    const issue = {
      id: issueId ?? "",
      title: issueTitle(alert),
      description: renderIssueBody(alert),
      priority: issuePriority(alert.severity),
    };
    const outcome = await tracker.createIssue(issue, signal);
    if (outcome.status !== "created") return resultOf(outcome);
    return { status: "delivered", reference: outcome.identifier ?? outcome.id, url: outcome.url };
  };
}

/**
 * Comments on the issue of an alert that has resolved; a repeated comment has the same id.
 *
 * Shape:     needs the tracker's client.
 * Behaviour: a comment that the tracker refuses, as on an issue that a person deleted, is refused for good.
 */
export function commentAttempt(tracker: Pick<IssueTracker, "createComment">): Attempt {
  return async ({ id: row, alert, issueId: issue }, signal) => {
    const issueId = issue ?? "";
    const comment = { id: commentIdOf(issueId, alert, row), issueId, body: renderResolvedComment(alert) };
    const outcome = await tracker.createComment(comment, signal);
    if (outcome.status !== "created") return resultOf(outcome);
    return { status: "delivered", reference: outcome.id, url: null };
  };
}

/** A refusal of our token is for good as well: it gives the claim back, so that the next firing tries again. */
function resultOf(outcome: Exclude<IssueOutcome | CommentOutcome, { status: "created" }>): AttemptResult {
  const { status, code } = outcome;
  if (status === "refused") return { status, code };
  const retryAfterMs = status === "throttled" ? outcome.retryAfterMs : null;
  return retry(code, OF_ONE_ROW.test(code) ? "row" : "service", { retryAfterMs });
}

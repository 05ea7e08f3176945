import type { IssueTracker } from "../../../providers/issue-outcome.ts";
import { renderResolvedComment } from "../../texts/issue/resolved-comment.ts";
import type { Attempt } from "./attempt.ts";
import { commentIdOf } from "./comment-id.ts";
import { issueIdOf } from "./issue-id.ts";

/**
 * Comments on the issue of an alert that has resolved, once: a repetition has the same id, by which the tracker knows
 * it.
 *
 * Behaviour: a comment that the tracker refuses, as that of an issue that a person deleted, is refused for good; it
 *            says nothing of other comments.
 */
export function commentAttempt(tracker: Pick<IssueTracker, "createComment">): Attempt {
  return async ({ id: row, alert, claimedAtMs }, signal) => {
    const issueId = issueIdOf(alert.fingerprint, claimedAtMs ?? 0);
    const comment = { id: commentIdOf(issueId, alert, row), issueId, body: renderResolvedComment(alert) };
    const outcome = await tracker.createComment(comment, signal);
    switch (outcome.status) {
      case "created":
        return { status: "delivered", reference: outcome.id, url: null };
      case "refused":
        return { status: "refused", code: outcome.code };
      case "throttled":
        return later(outcome.code, outcome.retryAfterMs);
      case "unknown":
        return later(outcome.code, null);
    }
  };
}

function later(code: string, retryAfterMs: number | null) {
  return { status: "retry" as const, code, stopsChannel: false, peerDown: true, retryAfterMs, unclear: null };
}

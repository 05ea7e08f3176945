/**
 * One issue.
 *
 * Shape: `id` is a version 4 UUID chosen before the first call, so that a repeated creation is recognised; `priority`
 *        is the tracker's: 1 urgent, 2 high, 3 medium, 4 low, 0 none.
 */
export type NewIssue = { id: string; title: string; description: string; priority: 0 | 1 | 2 | 3 | 4 };

/**
 * The outcome of a creation.
 *
 * Shape: `created` also when an earlier call created it with the same id; its link may be unknown. `refused` is final;
 *        `stopsChannel` says that the tracker refuses us, not this issue. `throttled` and `unknown` may be repeated
 *        with the same id.
 */
export type IssueOutcome =
  | { status: "created"; id: string; identifier: string | null; url: string | null }
  | { status: "refused"; code: string; stopsChannel: boolean }
  | { status: "throttled"; code: string; retryAfterMs: number }
  | { status: "unknown"; code: string };

/** One comment on an issue; both ids are version 4 UUIDs chosen by us, `body` is markdown. */
export type NewComment = { id: string; issueId: string; body: string };

/** The outcome of a comment; `created` also when an earlier call made it with the same id. Else as `IssueOutcome`. */
export type CommentOutcome = { status: "created"; id: string } | Exclude<IssueOutcome, { status: "created" }>;

/** An issue tracker; calls never throw. */
export type IssueTracker = {
  createIssue(issue: NewIssue, signal?: AbortSignal): Promise<IssueOutcome>;
  createComment(comment: NewComment, signal?: AbortSignal): Promise<CommentOutcome>;
  /** Whether token and team are accepted: null, or the code of what is wrong. */
  checkAccess(signal?: AbortSignal): Promise<string | null>;
};

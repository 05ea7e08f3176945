/** The steps of a run as its statements name them: what a test passes to `before`, `after` and `answerLost`. */

/** Lists or counts the owners who get a report. */
export const LIST_OWNERS = "list_weekly_performance_report_scopes(";
/** Claims an owner's report. */
export const CLAIM_REPORT = "claim_weekly_performance_report(";
/** Reads what the analyses of an owner's week have written. */
export const READ_EVIDENCE = "social_account_scores";
/** Completes a report. */
export const STORE_REPORT = "persist_weekly_performance_report(";
/** Claims a message or an e-mail. */
export const CLAIM_DELIVERY = "claim_weekly_performance_delivery(";
/** The point of no return before a send. */
export const DISPATCH = "dispatch_weekly_performance_delivery(";
/** Records what a send came to. */
export const SETTLE = "settle_weekly_performance_delivery(";
/** Reads the database's clock. */
export const READ_CLOCK = "weekly_performance_now()";
/** Reads the state of the week. */
export const READ_WEEK = "weekly_performance_week(";

/**
 * The content type of a post that only asks the webhook whether it takes the secret: it is answered 204, and nothing of
 * it is read, kept or logged.
 */
export const WEBHOOK_QUESTION = "application/vnd.opsctl.question";

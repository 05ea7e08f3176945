/** Something that a run needs and does not have: a public code, and what is behind a code that has several causes. */
export type SetupProblem = { code: string; cause?: string | undefined };

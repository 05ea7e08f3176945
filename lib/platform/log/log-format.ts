/** How the lines of a log are written: for people, or one JSON object each. */
export const LOG_FORMATS = ["text", "json"] as const;

/** One of these forms. */
export type LogFormat = (typeof LOG_FORMATS)[number];

import { storedKey } from "../../../lib/webhook/state/postgres/stored-text.ts";

/** Texts that a text column refuses, an index cannot have, or that could be taken for another text. */
export const ODD_TEXTS = [
  "a\u0000b",
  "a\\u0000b",
  "\ud800",
  "\udfff",
  "\ufffd",
  '"',
  '\\"',
  "x".repeat(100_000),
  `${"x".repeat(100_000)}y`,
  storedKey("x".repeat(100_000)),
  "\\sha256:",
];

import * as v from "valibot";
import type { Rule } from "./config.ts";

const SEPARATORS = /[\s().-]/g;

/**
 * The number that receives the alerts: digits with country code, whatever stands between them.
 *
 * Shape: 10 to 15 digits, as E.164 has them; a leading `+` and separators are dropped, and nothing is guessed.
 */
export const alertPhone: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.transform((text) => text.replace(SEPARATORS, "").replace(/^\+/, "")),
      v.regex(/^[1-9][0-9]{9,14}$/, "is not a phone number with country code"),
    ),
  expected: "digits with country code",
  example: "55 11 91234-5678",
};

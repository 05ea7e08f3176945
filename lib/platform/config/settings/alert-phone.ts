import * as v from "valibot";
import type { Rule } from "../config.ts";

const SEPARATORS = /[\s().-]/g;

/**
 * The number that receives the alerts: digits with country code, with or without separators.
 *
 * Behaviour: 10 to 15 digits, as in E.164; a leading `+` and separators are dropped, a country code is not guessed.
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

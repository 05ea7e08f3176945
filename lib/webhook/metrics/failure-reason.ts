import { metaVerdictOf } from "../../providers/evolution/meta-error.ts";

/** Why attempts fail: the values of a metric's label. */
export const FAILURE_REASONS = [
  "unreachable",
  "timeout",
  "rejected",
  "throttled",
  "unauthorized",
  "ambiguous",
] as const;

/** The reasons for codes, and for what an error of Meta's says. */
const BY_CODE: readonly (readonly [RegExp, (typeof FAILURE_REASONS)[number]])[] = [
  [/^account$|_(unauthorized|forbidden|license_required|http_401|http_403)$/, "unauthorized"],
  [/^throttled$|_(rate_limited|http_429)$/, "throttled"],
  [/_unreachable$/, "unreachable"],
  [/_timeout$/, "timeout"],
  [/^unclear$|_answer_|_http_(3\d\d|408|409|5\d\d)$/, "ambiguous"],
  [/^(recipient|sem)_|_(refused|invalid|missing|limit|accessible|body_unreadable)$/, "rejected"],
  [/^message$|_(user_error|instances_ambiguous|http_4\d\d)$/, "rejected"],
];

/** The reason for a failed attempt's code; `ambiguous` when the code does not prove that the service refused. */
export function failureReason(code: string): (typeof FAILURE_REASONS)[number] {
  const meaning = metaVerdictOf(code)?.status ?? code;
  return BY_CODE.find(([pattern]) => pattern.test(meaning))?.[1] ?? "ambiguous";
}

import { type MetaVerdict, metaVerdictOf } from "../../providers/evolution/meta-error.ts";

/** Why attempts fail: the values of a metric's label. */
export const FAILURE_REASONS = [
  "unreachable",
  "timeout",
  "rejected",
  "throttled",
  "unauthorized",
  "ambiguous",
] as const;

/** One of `FAILURE_REASONS`. */
export type FailureReason = (typeof FAILURE_REASONS)[number];

const BY_CODE: readonly (readonly [RegExp, FailureReason])[] = [
  [/_(unauthorized|forbidden|license_required|http_401|http_403)$/, "unauthorized"],
  [/_(rate_limited|http_429)$/, "throttled"],
  [/_unreachable$/, "unreachable"],
  [/_timeout$/, "timeout"],
  [/_answer_|_http_(3\d\d|408|409|5\d\d)$/, "ambiguous"],
  [/^(recipient|sem)_|_(refused|invalid|missing|limit|accessible|body_unreadable)$/, "rejected"],
  [/_(user_error|instances_ambiguous|http_4\d\d)$/, "rejected"],
];

const BY_VERDICT: Record<MetaVerdict["status"], FailureReason> = {
  account: "unauthorized",
  throttled: "throttled",
  message: "rejected",
  unclear: "ambiguous",
};

/** The reason for a failed attempt's code; `ambiguous` when the code does not prove that the peer refused. */
export function failureReason(code: string): FailureReason {
  const verdict = metaVerdictOf(code);
  if (verdict !== null) return BY_VERDICT[verdict.status];
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? "ambiguous";
}

import type { CallProblem, CallResult } from "../platform/http/call-peer.ts";

/**
 * The outcome of a send.
 *
 * Shape: `sent` carries the provider's id; `failed`: proved not accepted; `throttled`: not accepted either, and may be
 *        repeated under the same claim; `unknown`: may have been accepted, so no code sends it again. `stopsChannel`
 *        says that the refusal is about the channel, not about this message; `channel` is a fault of the channel that
 *        was found after an unknown send. `isOutage` when something before the provider answered in its place, or the
 *        provider says that it was cut off before it sent.
 */
export type SendOutcome =
  | { status: "sent"; providerMessageId: string }
  | { status: "failed"; code: string; stopsChannel: boolean }
  | { status: "throttled"; code: string; retryAfterMs: number }
  | { status: "unknown"; code: string; channel?: ChannelFault; isOutage?: true };

/**
 * Why a channel can send nothing now.
 *
 * Shape: `code` is the public code; `cause` is the code behind it, where that is another; `isPassing` when it may be
 *        over in a moment.
 */
export type ChannelFault = { code: string; cause?: string | undefined; isPassing?: true };

const PROBLEM_CODES: Record<CallProblem, string> = {
  unreachable: "unreachable",
  timeout: "timeout",
  connection_lost: "connection_lost",
  aborted: "aborted",
  answer_too_large: "answer_unreadable",
  request_invalid: "request_invalid",
};

/**
 * Statuses with which a proxy says that the service behind it is unavailable; the request may have reached that service.
 * 520 to 527 and 530 are Cloudflare's.
 */
export const PROXY_OUTAGES: readonly number[] = [502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530];

/** The code for a call whose answer has no code of its own: `<prefix>_timeout`, `<prefix>_http_503` and so on. */
export function codeOfCall(prefix: string, result: CallResult): string {
  if (result.problem !== null) return `${prefix}_${PROBLEM_CODES[result.problem]}`;
  return `${prefix}_http_${result.answer?.status ?? 0}`;
}

/**
 * A provider's message id, unchanged; null when it has other characters than ids have, so that neither an address nor
 * markup is stored.
 *
 * Behaviour: unchanged, because it is compared with the provider's own records.
 */
export function messageIdOf(value: unknown): string | null {
  return typeof value === "string" && /^[A-Za-z0-9._:=+/-]{1,200}$/.test(value) ? value : null;
}

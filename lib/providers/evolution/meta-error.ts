import { member } from "../../platform/http/answer.ts";

/**
 * What an error code of Meta's says about a message.
 *
 * Shape: `account`: the sending account is refused, whatever the message; `throttled`: may be repeated after
 *        `retryAfterMs`; `message`: this one message is refused. In these three cases nothing was sent. `unclear`
 *        proves nothing.
 */
export type MetaVerdict =
  | { status: "account" }
  | { status: "throttled"; retryAfterMs: number }
  | { status: "message" }
  | { status: "unclear" };

/**
 * Token, permission, lock; then faults of the sending number or its owner: number deleted (33), display name not
 * approved (131037), payment overdue (131042), number not registered (131045, 133010).
 */
const ACCOUNT: ReadonlySet<number> = new Set([
  0, 3, 10, 33, 190, 368, 131005, 131031, 131037, 131042, 131045, 133010,
]);

const THROTTLED: ReadonlyMap<number, number> = new Map([
  // Per second, and per pair of numbers (one message in six seconds): over soon.
  [130429, 6_000],
  [131056, 6_000],
  // Per hour and more.
  [4, 30_000],
  [80007, 30_000],
  [131048, 30_000],
]);

/** Parameter, recipient, 24-hour window, experiment, country, type or file of the message; then templates. */
const MESSAGE: ReadonlySet<number> = new Set([
  100, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131047, 131049, 131050, 131051, 131052, 131053,
  132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068, 132069, 135000,
]);

/**
 * What a code means. A code without documentation proves nothing, and neither do Meta's own faults (1, 2, 131000,
 * 131016, 131057, 133004).
 *
 * Source: WhatsApp Business Platform, Error codes (page of 2026-05-15), by its republished tables, read 2026-11-22.
 *         Meta recommends to decide by the code alone: titles and subcodes are being given up.
 */
export function metaVerdict(code: number): MetaVerdict {
  if (ACCOUNT.has(code) || (code >= 200 && code <= 299)) return { status: "account" };
  const retryAfterMs = THROTTLED.get(code);
  if (retryAfterMs !== undefined) return { status: "throttled", retryAfterMs };
  return MESSAGE.has(code) ? { status: "message" } : { status: "unclear" };
}

/**
 * The code in Meta's error object, or null when the value is not one.
 *
 * Behaviour: takes the object itself, or one below `error` as in Meta's own API; a code written as text counts as its
 *            number.
 */
export function metaErrorCode(value: unknown): number | null {
  return codeOf(value) ?? codeOf(member(value, "error"));
}

/** The verdict on a recorded code, `meta_<code>`; null for any other code. */
export function metaVerdictOf(recorded: string): MetaVerdict | null {
  const [, digits] = /^meta_(\d{1,7})$/.exec(recorded) ?? [];
  return digits === undefined ? null : metaVerdict(Number(digits));
}

function codeOf(value: unknown): number | null {
  const type = member(value, "type");
  if (typeof type !== "string" || !/^[A-Za-z]{1,60}Exception$/.test(type)) return null;
  const code = member(value, "code");
  const text = typeof code === "number" ? String(code) : code;
  return typeof text === "string" && /^\d{1,7}$/.test(text) ? Number(text) : null;
}

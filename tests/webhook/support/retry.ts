import type { Retry } from "../../../lib/webhook/delivery/attempts/attempt.ts";

/** An attempt that failed with `code` and says nothing about any other, with `changes`. */
export function retry(code: string, changes: Partial<Retry> = {}): Retry {
  return {
    status: "retry",
    code,
    stopsChannel: false,
    peerDown: false,
    retryAfterMs: null,
    unclear: null,
    ...changes,
  };
}

import type { CallRecord } from "../../lib/platform/http/call-peer.ts";
import type { Log } from "../../lib/platform/log/log.ts";

/** Logs each call of an external service, for `onCall` of its client. */
export function callLog(log: Log): (record: CallRecord) => void {
  return (record) => log.debug("An external service was called", record);
}

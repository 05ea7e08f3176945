import type { Log } from "../../lib/platform/log/log.ts";

/** A log for tests that look at none. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

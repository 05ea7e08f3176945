/** How a process of opsctl ends; docs/codes.md has the same table. */
export const EXIT = {
  /** Everything finished without failure. */
  ok: 0,
  /** Finished or stopped with at least one failure; the summary names it. */
  failed: 1,
  /** Usage: an unknown option, a bad value; nothing was done. */
  usage: 2,
  /** Configuration, secret, migration or readiness missing or invalid; nothing was written or sent. */
  notReady: 3,
  /** A writing weekly run outside Monday in America/Sao_Paulo; nothing was written or sent. */
  refused: 4,
} as const;

/** The exit status of every error code whose status is not `EXIT.failed`. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  USAGE_INVALID: EXIT.usage,
  RECONCILE_INVALID: EXIT.usage,
  RECONCILE_REASON_PRIVATE: EXIT.usage,
  WEEK_NOT_CLOSED: EXIT.usage,
  PRUNE_WEEK_TOO_YOUNG: EXIT.usage,
  ACCOUNT_UNAVAILABLE: EXIT.notReady,
  ROOT_NEEDED: EXIT.notReady,
  CONFIG_INVALID: EXIT.notReady,
  ENV_FILE_INVALID: EXIT.notReady,
  SECRET_FILE_EXPOSED: EXIT.notReady,
  SECRET_FILE_UNREADABLE: EXIT.notReady,
  SECRET_FILE_UNTRUSTED: EXIT.notReady,
  SECRET_COMMAND_UNTRUSTED: EXIT.notReady,
  SECRET_COMMAND_FAILED: EXIT.notReady,
  SECRET_MALFORMED: EXIT.notReady,
  SOCIAL_EDITORIALS_CRON_SECRET_REUSED: EXIT.notReady,
  DATABASE_UNREACHABLE: EXIT.notReady,
  DATABASE_BUSY: EXIT.notReady,
  DATABASE_TIMEOUT: EXIT.notReady,
  DATABASE_AUTH_FAILED: EXIT.notReady,
  DATABASE_NOT_FOUND: EXIT.notReady,
  DATABASE_PERMISSION_DENIED: EXIT.notReady,
  DATABASE_READ_ONLY: EXIT.notReady,
  DATABASE_OBJECT_MISSING: EXIT.notReady,
  DATABASE_NOT_MIGRATED: EXIT.notReady,
  DATABASE_SCHEMA_MISSING: EXIT.notReady,
  DATABASE_GRANT_MISSING: EXIT.notReady,
  DATABASE_ROW_SECURITY: EXIT.notReady,
  MIGRATION_EDITED: EXIT.notReady,
  MIGRATION_UNKNOWN: EXIT.notReady,
  TENANT_NOT_ELIGIBLE: EXIT.notReady,
  ZONE_DATA_DIFFERS: EXIT.notReady,
  LEDGER_WENT_BACK: EXIT.notReady,
  FILE_UNTRUSTED: EXIT.notReady,
  STATE_UNAVAILABLE: EXIT.notReady,
  STATE_SCHEMA_FORBIDDEN: EXIT.notReady,
  STATE_SCHEMA_NEWER: EXIT.notReady,
  STATE_ENCODING_UNSUPPORTED: EXIT.notReady,
  LISTEN_FAILED: EXIT.notReady,
  TEXTFILE_DIR_MISSING: EXIT.notReady,
  TEXTFILE_DIR_UNTRUSTED: EXIT.notReady,
  WEEKLY_OUTSIDE_MONDAY: EXIT.refused,
};

/** The exit status for an error code; `failed` for a code that is not in the table. */
export function exitStatusOf(code: string): number {
  return Object.hasOwn(STATUS_BY_CODE, code) ? (STATUS_BY_CODE[code] as number) : EXIT.failed;
}

/** The value of `status` in a result, for an exit status. */
export function statusWord(exitCode: number): "success" | "failed" | "not_ready" | "refused" {
  if (exitCode === EXIT.ok) return "success";
  if (exitCode === EXIT.notReady) return "not_ready";
  return exitCode === EXIT.refused ? "refused" : "failed";
}

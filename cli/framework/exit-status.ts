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

const USAGE: ReadonlySet<string> = new Set([
  ...["USAGE_INVALID", "RECONCILE_INVALID", "RECONCILE_REASON_PRIVATE"],
  ...["WEEK_NOT_CLOSED", "PRUNE_WEEK_TOO_YOUNG"],
]);

const NOT_READY: ReadonlySet<string> = new Set([
  ...["CONFIG_INVALID", "ENV_FILE_INVALID", "FILE_UNTRUSTED", "ACCOUNT_UNAVAILABLE", "ROOT_NEEDED"],
  ...["SECRET_FILE_EXPOSED", "SECRET_FILE_UNREADABLE", "SECRET_FILE_UNTRUSTED", "SECRET_MALFORMED"],
  ...["SECRET_COMMAND_UNTRUSTED", "SECRET_COMMAND_FAILED", "SOCIAL_EDITORIALS_CRON_SECRET_REUSED"],
  ...["DATABASE_UNREACHABLE", "DATABASE_BUSY", "DATABASE_TIMEOUT", "DATABASE_READ_ONLY"],
  ...["DATABASE_AUTH_FAILED", "DATABASE_NOT_FOUND", "DATABASE_PERMISSION_DENIED"],
  ...["DATABASE_OBJECT_MISSING", "DATABASE_NOT_MIGRATED", "DATABASE_SCHEMA_MISSING"],
  ...["DATABASE_GRANT_MISSING", "DATABASE_ROW_SECURITY", "MIGRATION_EDITED", "MIGRATION_UNKNOWN"],
  ...["TENANT_NOT_ELIGIBLE", "ZONE_DATA_DIFFERS", "LEDGER_WENT_BACK"],
  ...["STATE_UNAVAILABLE", "STATE_SCHEMA_FORBIDDEN", "STATE_SCHEMA_NEWER", "STATE_ENCODING_UNSUPPORTED"],
  ...["LISTEN_FAILED", "TEXTFILE_DIR_MISSING", "TEXTFILE_DIR_UNTRUSTED"],
]);

/** The exit status for an error code; `failed` for a code that stands in none of the lists above. */
export function exitStatusOf(code: string): number {
  if (USAGE.has(code)) return EXIT.usage;
  if (NOT_READY.has(code)) return EXIT.notReady;
  return code === "WEEKLY_OUTSIDE_MONDAY" ? EXIT.refused : EXIT.failed;
}

/** The value of `status` in a result, for an exit status. */
export function statusWord(exitCode: number): "success" | "failed" | "not_ready" | "refused" {
  if (exitCode === EXIT.ok) return "success";
  if (exitCode === EXIT.notReady) return "not_ready";
  return exitCode === EXIT.refused ? "refused" : "failed";
}

import { OpsError } from "../errors.ts";
import { redact } from "../secrets/redact.ts";
import { connectionFault } from "./connection-fault.ts";

/** The kinds of database failure, one for each thing to do next. */
export type DatabaseErrorCode =
  | "DATABASE_UNREACHABLE"
  | "DATABASE_AUTH_FAILED"
  | "DATABASE_NOT_FOUND"
  | "DATABASE_LOST"
  | "DATABASE_BUSY"
  | "DATABASE_TIMEOUT"
  | "DATABASE_READ_ONLY"
  | "DATABASE_PERMISSION_DENIED"
  | "DATABASE_OBJECT_MISSING"
  | "DATABASE_QUERY_FAILED";

/** A classified failure; `transient`: the database is away for a moment, and the same statement may succeed soon. */
export type DatabaseFault = { code: DatabaseErrorCode; sqlState: string | undefined; transient: boolean };

/**
 * What an error thrown by the driver means. This is the one place that says when a database is away for a moment.
 *
 * Behaviour: a statement that ended in DATABASE_LOST may have been committed: send it again only if it may be repeated.
 * Source:    PostgreSQL documentation, Appendix A, Error Codes. A failover shows itself as 57P01 and 57P02 (the server
 *            stops), 57P03 (it starts), 25006 (it is a replica still) and as connections that break or are refused.
 */
export function classifyDatabaseError(error: unknown): DatabaseFault {
  const raw = textOf(error, "code") ?? "";
  if (Object.hasOwn(HINTS, raw)) return faultOf(raw as DatabaseErrorCode);
  const sqlState = isServerError(error) ? raw : undefined;
  const code = sqlState === undefined ? codeOfDriver(raw) : codeOfState(sqlState);
  return faultOf(code, sqlState);
}

/**
 * The error to show for what the driver threw while trying to `attempt` ("list the scopes").
 *
 * Behaviour: names SQLSTATE and, where it cannot hold data, the server's own message; never the URL, the statement, its
 *            parameters or the row that the server quotes. While opening, every failure is DATABASE_UNREACHABLE but
 *            those of the login and the database's name. `setting` is the one that has the URL. An `OpsError` is returned
 *            unchanged.
 */
export function databaseError(
  error: unknown,
  attempt: string,
  { isOpening = false, setting = "DATABASE_URL" }: { isOpening?: boolean; setting?: string | undefined } = {},
): OpsError {
  if (error instanceof OpsError) return error;
  const fault = classifyDatabaseError(error);
  const code = isOpening && !AT_OPENING.has(fault.code) ? "DATABASE_UNREACHABLE" : fault.code;
  const hint = faultOfConnection(error, fault)?.hint ?? STATE_HINTS[fault.sqlState ?? ""] ?? HINTS[code];
  return new OpsError({
    code,
    message: `Cannot ${attempt}: ${describe(error, fault, setting)}`,
    hint: hint?.replaceAll("{url}", setting),
  });
}

/** The code of a database failure for the log: its SQLSTATE where there is one. */
export function databaseCode(error: unknown): string {
  const { sqlState, code } = classifyDatabaseError(error);
  return sqlState ?? code;
}

/**
 * True when no server answers at an address that may be right: it stops, starts, hangs, or moves to another host.
 *
 * Behaviour: false for a host that the name service does not know, for what the system forbids, and for a certificate
 *            that is not accepted: only a change of the settings mends those.
 */
export function isServerAway(error: unknown): boolean {
  const code = textOf(error, "code") ?? "";
  return !isServerError(error) && (LOST.has(code) || AWAY.has(code) || code === STATEMENT_TIMEOUT);
}

const TRANSIENT: ReadonlySet<DatabaseErrorCode> = new Set([
  "DATABASE_UNREACHABLE",
  "DATABASE_LOST",
  "DATABASE_BUSY",
  "DATABASE_TIMEOUT",
  "DATABASE_READ_ONLY",
]);

const AT_OPENING: ReadonlySet<DatabaseErrorCode> = new Set(["DATABASE_AUTH_FAILED", "DATABASE_NOT_FOUND"]);

/** `{url}` stands for the setting that has the URL. */
const HINTS: Record<DatabaseErrorCode, string | undefined> = {
  DATABASE_UNREACHABLE: "Check host, port and sslmode in {url} and that the server accepts connections",
  DATABASE_AUTH_FAILED:
    "Check user and password in {url}, and the server's access rules; opsctl secret set {url} writes another",
  DATABASE_NOT_FOUND: "Check the database name in {url}",
  DATABASE_LOST: "The connection broke on the way; run the command again once the database is back",
  DATABASE_BUSY: undefined,
  DATABASE_TIMEOUT:
    "Look for a session that holds a lock (pg_locks), and whether the server still answers; then run again",
  DATABASE_READ_ONLY:
    "The server takes no writes: it is a replica, in the middle of a failover, or set read-only. Check that " +
    "{url} leads to the primary, then run again",
  DATABASE_PERMISSION_DENIED: "Connect as service_role or a member of it; `opsctl migrate` runs as the owner",
  DATABASE_OBJECT_MISSING: "Run `opsctl migrate` and check that {url} names the right database",
  DATABASE_QUERY_FAILED: undefined,
};

/** For SQLSTATEs that say what is wrong more exactly than their kind. */
const STATE_HINTS: Record<string, string | undefined> = {
  "57P03": "The server is there, and starts, stops or recovers: look at its log, then run again",
  "53300":
    "The server, or this login, has no connection left: look at who holds them (pg_stat_activity) and at the limits, " +
    "then run again",
};

function faultOf(code: DatabaseErrorCode, sqlState?: string): DatabaseFault {
  return { code, sqlState, transient: TRANSIENT.has(code) };
}

/** Whole SQLSTATEs first, then classes (their first two characters). */
const STATES: Record<string, DatabaseErrorCode> = {
  "28": "DATABASE_AUTH_FAILED",
  "3D": "DATABASE_NOT_FOUND",
  "08": "DATABASE_LOST",
  "57P01": "DATABASE_LOST",
  "57P02": "DATABASE_LOST",
  "57P03": "DATABASE_UNREACHABLE",
  "57P05": "DATABASE_LOST",
  "53": "DATABASE_BUSY",
  "40": "DATABASE_BUSY",
  "55P03": "DATABASE_BUSY",
  "25P03": "DATABASE_LOST",
  "25P04": "DATABASE_TIMEOUT",
  "57014": "DATABASE_TIMEOUT",
  "42501": "DATABASE_PERMISSION_DENIED",
  "25006": "DATABASE_READ_ONLY",
  "42P01": "DATABASE_OBJECT_MISSING",
  "42883": "DATABASE_OBJECT_MISSING",
  "42703": "DATABASE_OBJECT_MISSING",
  "42704": "DATABASE_OBJECT_MISSING",
  "3F": "DATABASE_OBJECT_MISSING",
};

/** Codes of the driver and of the operating system for a connection that broke. */
const LOST = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "ECONNRESET",
  "EPIPE",
]);

/** Codes of a connection that could not be made now; a socket's file is not there while its server is stopped. */
const AWAY = new Set([
  "CONNECT_TIMEOUT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ETIMEDOUT",
]);

/** Code of a statement whose answer the caller stopped waiting for. */
const STATEMENT_TIMEOUT = "STATEMENT_TIMEOUT";

/** The error of a statement that was given up: it may have taken effect, or may do so later. */
export function noAnswer(): Error {
  return Object.assign(new Error("no answer of the database in time"), { code: STATEMENT_TIMEOUT });
}

const UNREACHABLE = new Set([
  ...AWAY,
  "ROOT_CERTIFICATES_INVALID",
  "ROOT_CERTIFICATES_MISSING",
  "TLS_REFUSED",
  "EACCES",
  "EMFILE",
  "ENOTFOUND",
  "EPERM",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
]);

/** Classes whose message names objects of the schema or our rules, never a row's value. */
const QUOTABLE = new Set(["OW", "08", "25", "28", "3D", "3F", "40", "42", "53", "55", "57", "P0"]);
const MAX_QUOTE = 200;

function codeOfState(sqlState: string): DatabaseErrorCode {
  return STATES[sqlState] ?? STATES[sqlState.slice(0, 2)] ?? "DATABASE_QUERY_FAILED";
}

function codeOfDriver(code: string): DatabaseErrorCode {
  if (LOST.has(code)) return "DATABASE_LOST";
  if (code === "CLEAR_TEXT_PASSWORD") return "DATABASE_AUTH_FAILED";
  if (code === STATEMENT_TIMEOUT) return "DATABASE_TIMEOUT";
  // OpenSSL's and Node's names for a certificate that is not accepted, or a handshake that failed.
  const isTls = /^(ERR_(SSL|TLS)_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/.test(code);
  return isTls || UNREACHABLE.has(code) ? "DATABASE_UNREACHABLE" : "DATABASE_QUERY_FAILED";
}

function describe(error: unknown, { code, sqlState }: DatabaseFault, setting: string): string {
  if (sqlState === undefined) {
    if (code === "DATABASE_TIMEOUT") return "the database did not answer in time";
    const cause = textOf(error, "code");
    const why = faultOfConnection(error, { sqlState })?.why.replaceAll("{url}", setting);
    return code === "DATABASE_QUERY_FAILED" && why === undefined
      ? `the driver failed${cause === undefined ? "" : ` with ${cause}`}`
      : `the connection failed with ${cause}${why === undefined ? "" : ` because ${why}`}`;
  }
  const message = QUOTABLE.has(sqlState.slice(0, 2)) ? textOf(error, "message") : undefined;
  const constraint = textOf(error, "constraint_name");
  const detail = message ?? (constraint && `constraint ${constraint}`);
  const quoted = detail === undefined ? "" : `, ${redact(detail).replace(/\s+/g, " ").slice(0, MAX_QUOTE)}`;
  return `the database answered SQLSTATE ${sqlState}${quoted}`;
}

function faultOfConnection(error: unknown, { sqlState }: Pick<DatabaseFault, "sqlState">) {
  if (sqlState !== undefined) return undefined;
  return connectionFault(textOf(error, "code") ?? "", textOf(error, "about"));
}

// PgBouncer's own errors have no field `V`, the severity that is never translated.
function isServerError(error: unknown): boolean {
  const severity = textOf(error, "severity") ?? textOf(error, "severity_local");
  return severity !== undefined && /^[0-9A-Z]{5}$/.test(textOf(error, "code") ?? "");
}

function textOf(error: unknown, key: string): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value = (error as Record<string, unknown>)[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

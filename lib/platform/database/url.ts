import { isLoopback } from "../loopback.ts";

/** How a connection is encrypted, in libpq's words. */
export type TlsMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";

/** A database's address and login, read from its URL. */
export type DatabaseAddress = {
  host: string;
  port: number;
  /** Path of the Unix socket; then `host` and `port` are not used. */
  socketPath: string | undefined;
  user: string | undefined;
  password: string;
  database: string | undefined;
  tls: TlsMode;
  /** File with the certificates to trust, `system` for the host's own; undefined means those built into the runtime. */
  rootCertificate: string | undefined;
  /** Settings that the URL asks the server for, such as `options`. */
  startup: Record<string, string>;
};

/** Parameters for other clients; a server would refuse a session with them. */
const FOR_OTHER_CLIENTS = new Set([
  "application_name",
  // The driver speaks UTF-8 and nothing else.
  "client_encoding",
  "connect_timeout",
  "connection_limit",
  "gssencmode",
  "keepalives",
  "keepalives_count",
  "keepalives_idle",
  "keepalives_interval",
  "pgbouncer",
  "pool_timeout",
  "sslnegotiation",
  "target_session_attrs",
  "uselibpqcompat",
]);
const UNDERSTOOD = new Set([
  ...["channel_binding", "dbname", "host", "password", "port", "ssl", "sslmode", "sslrootcert", "user"],
]);
/**
 * Parameters that libpq obeys and this client does not: passed on, a demand would be ignored or a secret sent along.
 */
const NOT_SUPPORTED = [
  ...["sslcert", "sslkey", "sslpassword", "sslcertmode", "sslcrl", "sslcrldir"],
  ...["ssl_min_protocol_version", "ssl_max_protocol_version", "requiressl", "requirepeer", "require_auth"],
  ...["scram_client_key", "scram_server_key", "oauth_client_secret", "hostaddr", "service", "passfile"],
];

/** Demands on the connection, each with the values that can be met. */
const CAN_BE_MET: Readonly<Record<string, readonly string[]>> = {
  channel_binding: ["disable", "prefer", "require"],
  gssencmode: ["disable", "prefer"],
};
/** Values of `ssl` that ask for nothing. */
const NO_TLS_ASKED: ReadonlySet<string | undefined> = new Set([undefined, "false", "0", "disable"]);

/**
 * The parts of a `postgres://` URL, or one line saying why it cannot be used; the line never quotes the URL.
 *
 * Behaviour: `sslmode` as in libpq: `require` encrypts without asking who answers (with `sslrootcert` it checks the
 *            certificate too), `verify-full` also checks the name. Without it a database on another host is
 *            `verify-full`, one on loopback `disable`. A Unix socket is never encrypted. `channel_binding=require` asks
 *            for a server that proves who it is, so the certificate is checked. `host`, `port`, `dbname`, `user` and
 *            `password` override the same parts before the `?`, as in libpq. Every part is percent-decoded. Unknown
 *            parameters go to the server as settings.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress | string {
  if (!/^postgres(ql)?:\/\//.test(text)) return "is not a postgres:// URL";
  // libpq takes a login without a host before `?host=/socket/directory`; a URL by the standard cannot have one.
  const standard = text.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[:/?#]|$)/, "$1localhost");
  const url = URL.canParse(standard) ? new URL(standard) : undefined;
  const parts = url && decodedParts(url);
  if (url === undefined || parts === undefined) return "is not a valid postgres:// URL";
  const query = Object.fromEntries([...url.searchParams].filter(([, value]) => value !== ""));
  const unsupported = NOT_SUPPORTED.find((name) => name in query);
  if (unsupported !== undefined) return `has the parameter ${unsupported}, which is not supported`;
  const unmet = Object.keys(CAN_BE_MET).find((name) => !canBeMet(name, query[name]));
  if (unmet !== undefined) return `has a value of ${unmet} that is not supported`;
  const host = query.host ?? (parts.host || "localhost");
  if (host.includes(",")) return "names several hosts, where one is supported";
  const port = portOf(query.port ?? (url.port || "5432"));
  if (port === undefined) return "has a port that is no number from 1 to 65535";
  const socketPath = host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : undefined;
  const tls = tlsMode(query, { host, socketPath });
  if (tls === undefined) return `has an ${query.sslmode === undefined ? "ssl" : "sslmode"} that is not known`;
  return {
    host,
    port,
    socketPath,
    user: query.user ?? (parts.user || undefined),
    password: query.password ?? parts.password,
    database: query.dbname ?? (parts.database || undefined),
    tls,
    rootCertificate: query.sslrootcert,
    startup: settings(query),
  };
}

function decodedParts(url: URL) {
  try {
    return {
      host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ""),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
    };
  } catch {
    return undefined;
  }
}

function canBeMet(name: string, value: string | undefined): boolean {
  return value === undefined || CAN_BE_MET[name]?.includes(value) === true;
}

function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function tlsMode(
  query: Record<string, string>,
  { host, socketPath }: Pick<DatabaseAddress, "host" | "socketPath">,
): TlsMode | undefined {
  const mode = modeAsked(query, isLoopback(host));
  if (mode === undefined) return undefined;
  if (socketPath !== undefined) return "disable";
  // The driver has no channel binding: the certificate has to prove who answers.
  return query.channel_binding === "require" && mode !== "verify-ca" ? "verify-full" : mode;
}

function modeAsked(query: Record<string, string>, isLocal: boolean): TlsMode | undefined {
  const hasRoot = query.sslrootcert !== undefined;
  if (query.sslrootcert === "system") return "verify-full";
  switch (query.sslmode ?? (query.ssl === "true" ? "require" : "")) {
    case "":
      if (!isLocal) return "verify-full";
      if (hasRoot) return "verify-ca";
      return NO_TLS_ASKED.has(query.ssl) ? "disable" : undefined;
    case "disable":
      return "disable";
    case "allow":
    case "prefer":
      return "prefer";
    case "require":
      return hasRoot ? "verify-ca" : "require";
    case "verify-ca":
      return "verify-ca";
    case "verify-full":
      return "verify-full";
    default:
      return undefined;
  }
}

function settings(query: Record<string, string>): Record<string, string> {
  const isSetting = ([name]: [string, string]) => !UNDERSTOOD.has(name) && !FOR_OTHER_CLIENTS.has(name);
  return Object.fromEntries(Object.entries(query).filter(isSetting));
}

/**
 * Why a connection to the database failed, as it follows "failed with CODE because", and what to do; `{url}` stands for
 * the setting that has the URL.
 */
export type ConnectionFault = { why: string; hint: string };

const NOT_TRUSTED: ConnectionFault = {
  why: "the server's certificate is not trusted here",
  hint:
    "A database on another host is verified (sslmode=verify-full) unless {url} says otherwise. For a private " +
    "authority add sslrootcert=/path/to/its/certificate.pem to {url} (sslrootcert=system for the host's own " +
    "store); sslmode=require encrypts without asking who answers",
};
const OTHER_NAME: ConnectionFault = {
  why: "the server's certificate is for another name than the host in {url}",
  hint:
    "Write the host as the certificate names it. To leave the name unchecked, sslmode=verify-ca with " +
    "sslrootcert=/path/to/the/authority.pem in {url} still proves who signed it",
};
const OUT_OF_DATE: ConnectionFault = {
  why: "the server's certificate is not valid today",
  hint:
    "Renew the certificate on the server, or set this host's clock; sslmode=require in {url} encrypts without " +
    "asking who answers, and sslrootcert does not help here",
};
const OTHER_USE: ConnectionFault = {
  why: "the server's certificate is not one for servers, or what signed it is no authority",
  hint:
    "Give the server a certificate for servers, signed by an authority; sslmode=require in {url} encrypts " +
    "without asking who answers, and sslrootcert does not help here",
};
const ROOT_UNUSABLE: ConnectionFault = {
  why: "the certificates that sslrootcert names cannot be used",
  hint:
    "sslrootcert in {url} is a file with certificates in PEM that the account of this command may read, or " +
    "system for the host's own store; without it sslmode=verify-full trusts the public authorities",
};

const FAULTS: Readonly<Record<string, ConnectionFault>> = {
  CERT_UNTRUSTED: NOT_TRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_NAME,
  HOSTNAME_MISMATCH: OTHER_NAME,
  CERT_HAS_EXPIRED: OUT_OF_DATE,
  CERT_NOT_YET_VALID: OUT_OF_DATE,
  INVALID_CA: OTHER_USE,
  INVALID_PURPOSE: OTHER_USE,
  PATH_LENGTH_EXCEEDED: OTHER_USE,
  TLS_REFUSED: {
    why: "the server does not offer TLS",
    hint:
      "A database on another host needs TLS unless {url} says otherwise: turn it on there (ssl = on) and name " +
      "its authority with sslrootcert where that is a private one; sslmode=disable sends everything unencrypted",
  },
  CLEAR_TEXT_PASSWORD: {
    why: "the server asked for the password in clear text without TLS, and did not get it",
    hint:
      "Write sslmode=verify-full in {url} (with sslrootcert for a private authority), or let the server ask by " +
      "scram-sha-256 (pg_hba.conf)",
  },
};

/**
 * The fault of a failed connection when the URL's `sslmode` or `sslrootcert` is its cause; else undefined.
 *
 * Source: OpenSSL's names of verification results, as Bun 1.4.5 and Deno 2.9.6 give them; Deno calls a certificate that
 *         is out of date or for another use UNABLE_TO_VERIFY_LEAF_SIGNATURE too.
 */
export function connectionFault(code: string, about: string | undefined): ConnectionFault | undefined {
  if (about === "sslrootcert") return ROOT_UNUSABLE;
  return Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined;
}

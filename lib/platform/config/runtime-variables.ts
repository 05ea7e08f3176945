/** The variables with which calls find their proxy; a runtime reads them at each call. */
export const PROXY_VARIABLES: readonly string[] = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
].flatMap((name) => [name, name.toLowerCase()]);
/** What a runtime reads when its process starts, and never again. */
export const START_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

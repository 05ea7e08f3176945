import type { Environment } from "../secrets/adapter.ts";

/** The variables with which calls find their proxy; a runtime reads them at each call. */
export const PROXY_VARIABLES: readonly string[] = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
].flatMap((name) => [name, name.toLowerCase()]);
/** What a runtime reads when its process starts, and never again. */
const START_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Gives the process the proxies that its settings name. */
export function applyProxies(settings: Environment, process: Record<string, string | undefined>): void {
  for (const name of PROXY_VARIABLES) if (settings[name]?.trim()) process[name] = settings[name];
}

/** The variables of a settings file that come too late there: the process should have had them when it started. */
export function comeTooLate(settings: Environment, process: Environment): string[] {
  return START_VARIABLES.filter((name) => (settings[name] ?? "") !== "" && settings[name] !== process[name]);
}

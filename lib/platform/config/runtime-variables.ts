import type { Environment } from "../secrets/adapter.ts";

/** What a runtime reads at each call. */
const AT_EACH_CALL = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** What a runtime reads when its process starts, and never again. */
export const START_VARIABLES: readonly string[] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** The variables with which calls find their proxy. */
export const PROXY_VARIABLES: readonly string[] = AT_EACH_CALL;

/** Gives the process the proxies that its settings name. */
export function applyProxies(settings: Environment, process: Record<string, string | undefined>): void {
  for (const name of AT_EACH_CALL) {
    const value = settings[name];
    if (value !== undefined && value.trim() !== "") process[name] = value;
  }
}

/** The variables of a settings file that come too late there: the process should have had them when it started. */
export function comeTooLate(settings: Environment, process: Environment): string[] {
  return START_VARIABLES.filter((name) => (settings[name] ?? "") !== "" && settings[name] !== process[name]);
}

import { loadSettings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";

/** The settings of a look-up; a channel whose settings are not all there is null. */
export type LookUpConfig = {
  databaseUrl: Secret;
  whatsapp: { appBaseUrl: string; gatewayUrl: string; adminKey: Secret } | null;
  email: { apiUrl: string; apiKey: Secret } | null;
};

const CHANNELS = [
  ...(["APP_BASE_URL", "GATEWAY_URL", "GATEWAY_ADMIN_KEY"] as const),
  ...(["EMAIL_API_URL", "EMAIL_API_KEY", "EMAIL_READ_API_KEY"] as const),
] as const;

/**
 * Reads the settings of a look-up: those of the weekly run, and the key that may read what was sent.
 *
 * Behaviour: only the database is needed; of a channel without settings nothing can be asked. `EMAIL_READ_API_KEY` goes
 *            before `EMAIL_API_KEY`, which may be one that only sends.
 * Errors:    CONFIG_INVALID.
 */
export async function loadLookUpConfig(env: Environment): Promise<LookUpConfig> {
  const values = await loadSettings("deliveries", { required: ["DATABASE_URL"], optional: CHANNELS }, env);
  const { APP_BASE_URL: appBaseUrl, GATEWAY_URL: gatewayUrl, GATEWAY_ADMIN_KEY: adminKey } = values;
  const apiKey = values.EMAIL_READ_API_KEY ?? values.EMAIL_API_KEY;
  const hasGateway = appBaseUrl !== undefined && gatewayUrl !== undefined && adminKey !== undefined;
  return {
    databaseUrl: values.DATABASE_URL,
    whatsapp: hasGateway ? { appBaseUrl, gatewayUrl, adminKey } : null,
    email: apiKey === undefined ? null : { apiUrl: values.EMAIL_API_URL, apiKey },
  };
}

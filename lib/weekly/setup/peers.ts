import type { CallRecord } from "../../platform/http/call-peer.ts";
import { checkReach, type Reach } from "../../providers/application/reach.ts";
import { type EvolutionClient, evolutionClient } from "../../providers/evolution/client.ts";
import { checkResendKey, type KeyState } from "../../providers/resend/key.ts";
import type { WeeklyConfig } from "../config.ts";

/** The peers of a weekly run, asked without any effect; a channel that is left out has none. */
export type SetupPeers = {
  /** Whether anything answers at the application's address. */
  reachApplication(signal: AbortSignal): Promise<Reach>;
  gateway: Pick<EvolutionClient, "checkInstance" | "listInstances"> | null;
  /** Whether the e-mail provider knows the key. */
  checkEmailKey: ((signal: AbortSignal) => Promise<KeyState>) | null;
};

/**
 * The peers that these settings name, for the dry run and for `opsctl doctor weekly`.
 *
 * Units: `limitMs` is the longest time of one question.
 */
export function setupPeers(
  { appBaseUrl, whatsapp, email }: Pick<WeeklyConfig, "appBaseUrl" | "whatsapp" | "email">,
  { limitMs: timeoutMs, onCall }: { limitMs: number; onCall?: (record: CallRecord) => void },
): SetupPeers {
  const common = { timeoutMs, ...(onCall === undefined ? {} : { onCall }) };
  return {
    reachApplication: (signal) => checkReach({ baseUrl: new URL(appBaseUrl), ...common, signal }),
    gateway:
      whatsapp &&
      evolutionClient({ baseUrl: new URL(whatsapp.gatewayUrl), adminKey: whatsapp.adminKey, ...common }),
    checkEmailKey:
      email &&
      ((signal) =>
        checkResendKey({ baseUrl: new URL(email.apiUrl), apiKey: email.apiKey, ...common, signal })),
  };
}

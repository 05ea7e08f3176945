import { NO_SENDER_INSTANCE } from "../../providers/evolution/advice.ts";
import type { SetupPeers } from "./peers.ts";
import type { SetupProblem } from "./problem.ts";

type Gateway = NonNullable<SetupPeers["gateway"]>;

/** Codes of calls that nothing answered: then nothing is known of the instance, and there is no phone to pair. */
const NO_ANSWER: ReadonlySet<string | undefined> = new Set([
  "gateway_unreachable",
  "gateway_timeout",
  "gateway_connection_lost",
]);

/**
 * What keeps the gateway from being used at all, or null: it does not answer, refuses the key, has no licence.
 *
 * Errors: `gateway_unreachable`, with the code of the call as its cause where that is another; else the code of the
 *         answer.
 */
export async function gatewayProblem(gateway: Gateway, signal: AbortSignal): Promise<SetupProblem | null> {
  const listed = await gateway.listInstances(signal);
  if (listed.status === "ok") return null;
  return NO_ANSWER.has(listed.code) ? unreachable(listed.code) : { code: listed.code };
}

/**
 * What keeps the sender's instance from sending, or null when it is open.
 *
 * Errors: `gateway_unreachable` when nothing answers; `sem_instancia_gateway` with its cause; the refusal of key or
 *         licence.
 */
export async function senderInstanceProblem(
  gateway: Gateway,
  instanceName: string | null,
  signal: AbortSignal,
): Promise<SetupProblem | null> {
  if (instanceName === null) return NO_SENDER_INSTANCE;
  const instance = await gateway.checkInstance(instanceName, signal);
  if (instance.status === "open") return null;
  const { code, cause } = instance;
  return cause !== undefined && NO_ANSWER.has(cause) ? unreachable(cause) : { code, cause };
}

function unreachable(cause: string): SetupProblem {
  const code = "gateway_unreachable";
  return cause === code ? { code } : { code, cause };
}

import type { EvolutionClient } from "../../providers/evolution/client.ts";
import type { FindInstance } from "../../providers/evolution/instance.ts";
import type { AskMessageStatus } from "../../providers/evolution/message-status.ts";
import type { AskGatewayState, GatewayState } from "./gateway-watch.ts";
import type { AskStatus } from "./pending-messages.ts";

/** How long to wait for the gateway's word; it has it in its memory. */
const ASK_LIMIT_MS = 10_000;

/**
 * Asks the gateway for the state of the instance that sends.
 *
 * Behaviour: no instance at all, or one that the gateway does not know any more, is not open either. A refusal of our
 *            key or licence says nothing of the instance: sends find it out and hold for what it is.
 */
export function gatewayStateOf(dependencies: {
  gateway: Pick<EvolutionClient, "checkInstance">;
  findInstance: FindInstance;
  limitMs?: number;
}): AskGatewayState {
  const { gateway, findInstance, limitMs = ASK_LIMIT_MS } = dependencies;
  const ask = async (signal: AbortSignal): Promise<GatewayState> => {
    const instance = await findInstance(signal);
    if (instance.status !== "found")
      return instance.code === NOT_OPEN
        ? { status: "not_open", cause: "instance_missing" }
        : { status: "unknown", code: instance.code };
    const check = await gateway.checkInstance(instance.name, signal);
    if (check.status === "not_open" && check.cause === "instance_missing") instance.forget?.();
    return stateOf(check);
  };
  return async (stop) => {
    const limit = AbortSignal.timeout(limitMs);
    const state = await ask(AbortSignal.any([stop, limit]));
    const isLate = state.status === "unknown" && limit.aborted && !stop.aborted;
    return isLate ? { status: "unknown", code: LATE } : state;
  };
}

/** Asks what became of a message of the instance that sends. */
export function askAboutMessage(dependencies: {
  ask: AskMessageStatus;
  findInstance: FindInstance;
}): AskStatus {
  const { ask, findInstance } = dependencies;
  return async (id, signal) => {
    const instance = await findInstance(signal);
    if (instance.status !== "found") return { status: "unknown", code: instance.code };
    return await ask({ instanceName: instance.name, id }, signal);
  };
}

const NOT_OPEN = "sem_instancia_gateway";
const LATE = "gateway_timeout";

function stateOf(check: Awaited<ReturnType<EvolutionClient["checkInstance"]>>): GatewayState {
  if (check.status === "open") return { status: "open" };
  const { code, cause = code, isProved, stopsChannel } = check;
  if (code === NOT_OPEN && isProved && !stopsChannel) return { status: "not_open", cause };
  return { status: "unknown", code: cause };
}

import type { EvolutionClient } from "./client.ts";

/**
 * The instance that sends, or why none is known; `stopsChannel` when the gateway refuses us.
 *
 * Shape: `forget` is for a name that the gateway no longer knows: the next need asks again.
 */
export type InstanceName = { name: string; forget?: () => void } | { code: string; stopsChannel: boolean };

/**
 * Finds the gateway's instance when it is first needed, so that the service starts without the gateway.
 *
 * Shape:  the configured name, else the only instance that the key may see. What was found is remembered until it is
 *         forgotten; that nothing was found is not, so that the next need asks again. A configured name stays.
 * Errors: none thrown; `sem_instancia_gateway` when there is no instance, `gateway_instances_ambiguous` when there are
 *         several, else the code of the failed call.
 */
export function resolveInstance(options: {
  gateway: Pick<EvolutionClient, "listInstances">;
  configured: string | null;
}): (signal?: AbortSignal) => Promise<InstanceName> {
  const { configured } = options;
  let known: string | null = null;
  const forget = () => {
    known = null;
  };

  return async (signal) => {
    if (configured !== null) return { name: configured };
    if (known !== null) return { name: known, forget };
    const listed = await options.gateway.listInstances(signal);
    if (listed.status !== "ok") return { code: listed.code, stopsChannel: listed.stopsChannel };
    const [name, ...others] = listed.names;
    if (name === undefined) return { code: "sem_instancia_gateway", stopsChannel: false };
    if (others.length > 0) return { code: "gateway_instances_ambiguous", stopsChannel: false };
    known = name;
    return { name, forget };
  };
}

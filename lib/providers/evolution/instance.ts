import type { EvolutionClient } from "./client.ts";

/**
 * The name of the instance that sends, or the code of why there is none.
 *
 * Shape: `forget` drops a name that the gateway no longer knows, so that the next call asks the gateway again;
 *        `stopsChannel` is true when the gateway refuses us.
 */
export type InstanceName = { name: string; forget?: () => void } | { code: string; stopsChannel: boolean };

/** Finds the gateway's instance that sends, or why there is none. */
export type FindInstance = (signal?: AbortSignal) => Promise<InstanceName>;

/**
 * Finds the gateway's instance when it is first needed, so that the service starts without the gateway.
 *
 * Behaviour: returns the configured name, else the only instance that the key may see. A name that was found is
 *            remembered until `forget` is called; when none was found, the next call asks the gateway again.
 * Errors:    none thrown; `sem_instancia_gateway` when there is no instance, `gateway_instances_ambiguous` when there
 *            are several, else the code of the failed call.
 */
export function resolveInstance(options: {
  gateway: Pick<EvolutionClient, "listInstances">;
  configured: string | null;
}): FindInstance {
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

import type { EvolutionClient } from "./client.ts";

/**
 * The instance that sends, or why none is known.
 *
 * Shape: `forget` is for a name that the gateway no longer knows: the next call asks again. `stopsChannel` says that
 *        the gateway refuses us.
 */
export type FoundInstance =
  | { status: "found"; name: string; forget?: () => void }
  | { status: "failed"; code: string; stopsChannel: boolean };

/** Finds the instance that sends; never throws. */
export type FindInstance = (signal?: AbortSignal) => Promise<FoundInstance>;

/**
 * Finds the gateway's instance when it is first needed, so that the service starts without the gateway.
 *
 * Behaviour: the configured name, else the only instance that the key may see. A found name is remembered until it is
 *            forgotten; after a failure the next call asks again. A configured name stays.
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
    if (configured !== null) return { status: "found", name: configured };
    if (known !== null) return { status: "found", name: known, forget };
    const listed = await options.gateway.listInstances(signal);
    if (listed.status !== "ok") return listed;
    const [name, ...others] = listed.names;
    if (name === undefined) return failed("sem_instancia_gateway");
    if (others.length > 0) return failed("gateway_instances_ambiguous");
    known = name;
    return { status: "found", name, forget };
  };
}

function failed(code: string): FoundInstance {
  return { status: "failed", code, stopsChannel: false };
}

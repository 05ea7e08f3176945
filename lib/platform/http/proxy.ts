const LOOPBACK = ["127.0.0.1", "localhost", "::1"];

/**
 * Keeps calls to loopback away from a proxy that the environment names (`HTTP_PROXY`, `ALL_PROXY`).
 *
 * Behaviour: adds the loopback names to `NO_PROXY`, which both runtimes read at each call. Plain HTTP is allowed to
 *            loopback because it stays on the host; a proxy would take it off the host, secret included.
 */
export function keepLoopbackOffProxies(env: Record<string, string | undefined>): void {
  for (const name of ["NO_PROXY", "no_proxy"]) {
    env[name] = [env[name], ...LOOPBACK].filter((part) => part !== undefined && part !== "").join(",");
  }
}

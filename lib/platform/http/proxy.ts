import { isLoopback } from "../loopback.ts";

type Variables = Record<string, string | undefined>;

const LOOPBACK = ["127.0.0.1", "localhost", "::1"];

/**
 * Keeps calls to loopback away from a proxy that the environment names (`HTTP_PROXY`, `ALL_PROXY`).
 *
 * Behaviour: adds the loopback names to `NO_PROXY`, which both runtimes read at each call. Plain HTTP is allowed to
 *            loopback because it stays on the host; a proxy would take it off the host, secret included.
 */
export function keepLoopbackOffProxies(env: Variables): void {
  exempt(LOOPBACK, env);
}

/**
 * The same for one call, whose URL may name any address of loopback, such as 127.0.0.2 or ::ffff:127.0.0.1.
 *
 * Behaviour: adds the host to `NO_PROXY` when it is one: Bun takes no range of addresses there. Others are left alone.
 */
export function keepCallOffProxies({ hostname }: URL, env: Variables): void {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isLoopback(host)) exempt([host], env);
}

function exempt(hosts: readonly string[], env: Variables): void {
  for (const name of ["NO_PROXY", "no_proxy"]) {
    const listed = env[name]?.split(",") ?? [];
    const missing = hosts.filter((host) => !listed.includes(host));
    if (missing.length > 0) env[name] = [...listed.filter((part) => part !== ""), ...missing].join(",");
  }
}

import { isLoopback } from "../loopback.ts";

/**
 * Keeps a call to loopback away from a proxy that the environment names (`HTTP_PROXY`, `ALL_PROXY`).
 *
 * Behaviour: adds the host to `NO_PROXY`, which both runtimes read at each call; Bun takes no range of addresses there.
 *            Plain HTTP is allowed to loopback because it stays on the host; a proxy would take it off the host, secret
 *            included.
 */
export function keepLoopbackOffProxies({ hostname }: URL, env: Record<string, string | undefined>): void {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!isLoopback(host)) return;
  for (const name of ["NO_PROXY", "no_proxy"]) {
    const listed = env[name]?.split(",").filter((part) => part !== "") ?? [];
    if (!listed.includes(host)) env[name] = [...listed, host].join(",");
  }
}

import { METRIC } from "../../host/metric-names.ts";
import type { CallRecord } from "../../platform/http/call-peer.ts";
import { type DockerAddress, readContainerMemory } from "../../providers/docker/client.ts";
import type { Source } from "../source.ts";

/**
 * The memory of the reverse proxy's container.
 *
 * Shape: a stopped or missing container is a failure of the source: no sample.
 */
export function proxyMemorySource(options: {
  address: DockerAddress;
  container: string;
  timeoutMs: number;
  onCall?: ((record: CallRecord) => void) | undefined;
}): Source {
  return async (signal) => {
    const memory = await readContainerMemory({ ...options, signal });
    if (memory.status === "ok")
      return { samples: { [METRIC.proxyMemoryBytes]: [{ value: memory.bytes }] }, problem: null };
    const what = `Cannot read the memory of container ${options.container}`;
    return {
      samples: {},
      problem: { code: memory.code, message: `${what}: ${reasonOf(memory.code, options.address)}` },
    };
  };
}

function reasonOf(code: string, address: DockerAddress): string {
  const where = "url" in address ? address.url.host : address.unixSocket;
  switch (code) {
    case "docker_container_missing":
      return "the engine knows no container of exactly this name; set PROXY_CONTAINER";
    case "docker_container_not_running":
      return "the container is not running";
    case "docker_memory_unknown":
      return "it runs, and the container engine shows no memory of it; its log may say why";
    case "docker_unreachable":
      return `no container engine answers at ${where}, or this account may not use it`;
    default:
      return `the container engine at ${where} did not answer as expected`;
  }
}

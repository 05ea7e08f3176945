import { METRIC } from "../../host/metric-names.ts";
import type { CallRecord } from "../../platform/http/call-peer.ts";
import { readContainerMemory } from "../../providers/docker/client.ts";
import { type MetricSource, type SourceFault, unread } from "../source.ts";

const CALL_LIMIT_MS = 5_000;

/** The memory of the reverse proxy's container; a stopped or missing container is a failure of the source. */
export const proxyMemory: MetricSource = {
  name: "proxy_memory",
  help: {
    [METRIC.proxyMemoryBytes]: "Memory of the reverse-proxy container in bytes, as docker stats shows it.",
  },
  limitMs: 8_000,
  settings: ["PROXY_CONTAINER", "DOCKER_HOST"],
  async read({ PROXY_CONTAINER: container, DOCKER_HOST: address }, { signal, log }) {
    const onCall = (record: CallRecord) => log.debug("An external service was called", record);
    const call = { address, container, timeoutMs: CALL_LIMIT_MS, signal, onCall };
    const memory = await readContainerMemory(call);
    if (memory.status === "ok")
      return { samples: { [METRIC.proxyMemoryBytes]: [{ value: memory.bytes }] }, problem: null };
    return unread(
      memory.code,
      `Cannot read the memory of container ${container}: ${engineFault(memory.code).why}`,
    );
  },
};

/** What a code of the container engine means. */
export function engineFault(code: string): SourceFault {
  return FAULTS[code] ?? OTHER;
}

const FAULTS: Readonly<Record<string, SourceFault>> = {
  docker_unreachable: {
    why: "no container engine answers at DOCKER_HOST, or this account may not use it",
    fix: {
      text: "Start the engine, or correct DOCKER_HOST in collect-metrics.env; if you are not root:",
      command: "sudo opsctl doctor collect-metrics",
    },
  },
  docker_container_missing: {
    why: "the container engine knows no container of exactly this name",
    fix: "Correct PROXY_CONTAINER in collect-metrics.env",
  },
  docker_container_not_running: { why: "the container is not running", fix: "Start it (docker start)" },
  docker_memory_unknown: {
    why: "the container runs, and the container engine shows no memory of it",
    fix: "Read the engine's log; a kernel without the memory controller is booted with cgroup_enable=memory",
  },
};

const OTHER: SourceFault = {
  why: "the container engine at DOCKER_HOST does not answer as expected",
  fix: "Read the engine's log, and check DOCKER_HOST in collect-metrics.env",
};

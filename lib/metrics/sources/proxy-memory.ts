import { METRIC } from "../../host/metric-names.ts";
import type { CallRecord } from "../../platform/http/call-peer.ts";
import { type DockerAddress, readContainerMemory } from "../../providers/docker/client.ts";
import { type MetricSource, type SourceCheckContext, type SourceHealth, unread } from "../source.ts";

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
    const memory = await readContainerMemory({
      address,
      container,
      timeoutMs: CALL_LIMIT_MS,
      signal,
      onCall,
    });
    if (memory.status === "ok")
      return { samples: { [METRIC.proxyMemoryBytes]: [{ value: memory.bytes }] }, problem: null };
    const why = reasonOf(memory.code, address);
    return unread(memory.code, `Cannot read the memory of container ${container}: ${why}`);
  },
  check: {
    name: "container",
    service: "the container engine",
    runsAsRoot: true,
    async run({ PROXY_CONTAINER: container, DOCKER_HOST: address }, context) {
      const { signal, callLimitMs: timeoutMs } = context;
      const memory = await readContainerMemory({ address, container, timeoutMs, signal });
      if (memory.status === "ok") return { status: "pass", reason: `container ${container} runs` };
      return failure(memory.code, container, context);
    },
  },
};

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

function failure(
  code: string,
  container: string,
  { settingsFile, asRoot }: SourceCheckContext,
): SourceHealth {
  const fail = (why: string, fix: Extract<SourceHealth, { fix: unknown }>["fix"]): SourceHealth => {
    return { status: "fail", code, reason: why, fix };
  };
  switch (code) {
    case "docker_unreachable":
      return fail("no container engine answers at DOCKER_HOST, or this account may not use it", {
        ...asRoot,
        text: `Start the engine, or correct DOCKER_HOST in ${settingsFile}; where you are not root:`,
      });
    case "docker_container_missing":
      return fail(`the engine knows no container ${container}`, `Correct PROXY_CONTAINER in ${settingsFile}`);
    case "docker_container_not_running":
      return fail(`container ${container} does not run`, "Start it (docker start)");
    case "docker_memory_unknown":
      return fail(
        `container ${container} runs, and the engine shows no memory of it`,
        "Read the engine's log; a kernel without the memory controller is booted with cgroup_enable=memory",
      );
    default:
      return fail(
        "the container engine does not answer as it should",
        `Read the engine's log, and check DOCKER_HOST in ${settingsFile}`,
      );
  }
}

/** The container engine, Docker or Podman: reads how much memory one container uses. */
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";

/** Where the container engine listens. */
export type DockerAddress = { unixSocket: string } | { url: URL };

/** How the container engine is called, and for which container. */
export type DockerOptions = {
  address: DockerAddress;
  container: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** The memory of a running container, or why it is not known. */
export type ContainerMemory = { status: "ok"; bytes: number } | { status: "failed"; code: string };

/** Only the first sample: without `one-shot` the engine waits for a second one. */
const SAMPLE = "stats?stream=false&one-shot=true";
/** The time that an engine gives when it has not measured. */
const NEVER = "0001-01-01T00:00:00Z";

/**
 * The memory of the container of exactly this name, as `docker stats` shows it.
 *
 * Behaviour: inspects the container by its name, because engines also accept the beginning of an id as a name, then
 *            reads one sample by its full id. The paths have no version, so each engine answers with its newest. A
 *            container that does not run is never zero: some engines send zeros for it, some nothing, some an error.
 * Errors:    none thrown; `docker_container_missing`, `docker_container_not_running`, `docker_memory_unknown` (it runs,
 *            and the engine measures none), `docker_answer_unreadable`, `docker_http_<status>`, `docker_unreachable`
 *            and the other codes of a call.
 * Source:    moby api/swagger.yaml, ContainerInspect and ContainerStats; docker/cli
 *            cli/command/container/stats_helpers.go; read 2026-11-22.
 */
export async function readContainerMemory(options: DockerOptions): Promise<ContainerMemory> {
  const { container } = options;
  const inspected = await call(options, `/containers/${encodeURIComponent(container)}/json`);
  if (inspected.status !== "answered") return failed(codeOf(inspected));
  const { json } = inspected.answer;
  const [id, name] = [member(json, "Id"), member(json, "Name")];
  if (typeof id !== "string" || !/^[0-9a-f]{64}$/.test(id) || typeof name !== "string")
    return failed("docker_answer_unreadable");
  if (name !== `/${container}`) return failed("docker_container_missing");
  if (member(member(json, "State"), "Running") === false) return failed("docker_container_not_running");
  const sampled = await call(options, `/containers/${id}/${SAMPLE}`);
  if (sampled.status !== "answered") return failed(codeOf(sampled));
  // A container that ends while it is measured has an answer without a body.
  if (sampled.answer.text === "") return failed("docker_container_not_running");
  return memoryIn(sampled.answer.json);
}

function memoryIn(sample: unknown): ContainerMemory {
  if (typeof sample !== "object" || sample === null) return failed("docker_answer_unreadable");
  const memory = member(sample, "memory_stats");
  const usage = member(memory, "usage");
  // A kernel that counts no memory leaves it out for a container that runs.
  if (usage === undefined || usage === 0)
    return failed(
      member(sample, "read") === NEVER ? "docker_container_not_running" : "docker_memory_unknown",
    );
  if (!isCount(usage)) return failed("docker_answer_unreadable");
  return { status: "ok", bytes: usage - inactiveFile(member(memory, "stats"), usage) };
}

// Version 1 of the control groups has both keys, version 2 only the second.
function inactiveFile(stats: unknown, usage: number): number {
  const keys = ["total_inactive_file", "inactive_file"];
  const found = keys.map((key) => member(stats, key)).find((value) => isCount(value) && value < usage);
  return isCount(found) ? found : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The code for a call that brought no usable answer. */
function codeOf(result: CallResult): string {
  if (result.answer?.status === 404) return "docker_container_missing";
  return result.problem === "connection_lost" ? "docker_unreachable" : codeOfCall("docker", result);
}

function failed(code: string): ContainerMemory {
  return { status: "failed", code };
}

function call({ address, timeoutMs, signal, onCall }: DockerOptions, path: string): Promise<CallResult> {
  const [base, unixSocket] =
    "url" in address ? [address.url, undefined] : [new URL("http://localhost"), address.unixSocket];
  return callPeer({
    peer: "docker",
    method: "GET",
    url: new URL(path, base),
    headers: {},
    unixSocket,
    timeoutMs,
    signal,
    onCall,
    definitive: ({ status }) => status === 404 || status === 400,
  });
}

/** The container engine, Docker or Podman: reads how much memory one container uses. */
import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import { type CallOptions, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";

/** Where the container engine listens. */
export type DockerAddress = { unixSocket: string } | { url: URL };

/** How the container engine is called, and for which container. */
export type DockerOptions = CallOptions & { address: DockerAddress; container: string };

/** The memory of a running container, or why it is not known. */
export type ContainerMemory = { status: "ok"; bytes: number } | { status: "failed"; code: string };

/** Only the first sample: without `one-shot` the engine waits for a second one. */
const SAMPLE = "stats?stream=false&one-shot=true";

/**
 * The memory of the container of exactly this name, as `docker stats` shows it.
 *
 * Behaviour: inspects the container by its name, because engines also accept the beginning of an id as a name, then
 *            reads one sample by its full id. The paths have no version, so each engine answers with its newest. A
 *            memory of zero is never shown: some engines send it for a container that does not run.
 * Errors:    none thrown; `docker_container_missing`, `docker_container_not_running`, `docker_memory_unknown` (it runs,
 *            and the engine measures none) and the codes of a call.
 * Source:    moby api/swagger.yaml; docker/cli cli/command/container/stats_helpers.go; read 2026-11-22.
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
  // One that starts again and again counts as running otherwise.
  const state = String(member(member(json, "State"), "Status"));
  if (!["running", "paused"].includes(state)) return failed("docker_container_not_running");
  const sampled = await call(options, `/containers/${id}/${SAMPLE}`);
  if (sampled.status !== "answered") return failed(codeOf(sampled));
  return memoryIn(sampled.answer);
}

function memoryIn({ text, json }: PeerAnswer): ContainerMemory {
  // A container that ends while it is measured has an answer without a body.
  if (text === "") return failed("docker_container_not_running");
  if (typeof json !== "object" || json === null) return failed("docker_answer_unreadable");
  const memory = member(json, "memory_stats");
  const usage = member(memory, "usage");
  // A kernel that counts no memory leaves it out for a container that runs.
  if (usage === undefined || usage === 0) return failed("docker_memory_unknown");
  if (!isCount(usage)) return failed("docker_answer_unreadable");
  // Version 1 of the control groups has both keys, version 2 only the second.
  const inactive = ["total_inactive_file", "inactive_file"]
    .map((key) => member(member(memory, "stats"), key))
    .find((value) => isCount(value) && value < usage);
  return { status: "ok", bytes: usage - Number(inactive ?? 0) };
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
  const [base, unixSocket] = "url" in address ? [address.url] : ["http://localhost", address.unixSocket];
  const call = { peer: "docker", method: "GET", url: new URL(path, base), headers: {} } as const;
  return callPeer({ ...call, unixSocket, timeoutMs, signal, onCall });
}

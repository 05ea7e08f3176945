import { type CallRecord, type CallResult, callPeer } from "../platform/http.ts";
import { member, type PeerAnswer } from "../platform/http-answer.ts";
import { codeOfCall } from "./send-outcome.ts";

/** Where the container engine listens. */
export type DockerAddress = { unixSocket: string } | { url: URL };

/** The memory of a running container, or why it is not known. */
export type ContainerMemory = { ok: true; bytes: number } | { ok: false; code: string };

/** Daemons from 25.0 on; an older one, or one that has dropped it, is asked for what it has. */
const API_VERSION = "1.44";

/**
 * The memory of the container of exactly this name, as `docker stats` shows it.
 *
 * Shape:  one call, of the first sample alone: without `one-shot` the daemon waits for a second one. The engine also
 *         takes the beginning of an id for a name, so the answer must carry the name itself.
 * Errors: none thrown; `docker_container_missing`, `docker_container_not_running` (the engine answers 200 with empty
 *         statistics for a stopped one), `docker_answer_unreadable`, `docker_http_<status>`, `docker_unreachable` and
 *         the other codes of a call.
 * Source: moby api/swagger.yaml, ContainerStats; docker/cli stats_helpers.go, read 2026-11-21.
 */
export async function readContainerMemory(options: {
  address: DockerAddress;
  container: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
}): Promise<ContainerMemory> {
  const { address, container } = options;
  const get = (path: string) => {
    const [base, unixSocket] =
      "url" in address ? [address.url, undefined] : [new URL("http://localhost"), address.unixSocket];
    const { timeoutMs, signal, onCall } = options;
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
  };
  const statistics = (version: string) =>
    get(`/v${version}/containers/${encodeURIComponent(container)}/stats?stream=false&one-shot=true`);

  const first = await statistics(API_VERSION);
  if (first.answer?.status !== 400) return memoryOf(first, container);
  // Too new or too old for this daemon; it says in every answer what it speaks itself.
  const version = (await get("/_ping")).answer?.headers.get("api-version") ?? "";
  if (!/^\d\.\d{1,3}$/.test(version) || version === API_VERSION) return memoryOf(first, container);
  return memoryOf(await statistics(version), container);
}

function memoryOf(result: CallResult, container: string): ContainerMemory {
  if (result.answer?.status === 404) return { ok: false, code: "docker_container_missing" };
  if (result.class !== "answered") {
    const code = result.problem === "connection_lost" ? "docker_unreachable" : codeOfCall("docker", result);
    return { ok: false, code };
  }
  return memoryIn(result.answer, container);
}

function memoryIn({ json, text }: PeerAnswer, container: string): ContainerMemory {
  // A container that ends while it is measured has an answer without a body.
  if (text === "") return { ok: false, code: "docker_container_not_running" };
  const name = member(json, "name");
  if (typeof name !== "string") return { ok: false, code: "docker_answer_unreadable" };
  if (name.replace(/^\//, "") !== container) return { ok: false, code: "docker_container_missing" };
  const memory = member(json, "memory_stats") ?? {};
  const usage = member(memory, "usage");
  if (usage === undefined || usage === 0) return { ok: false, code: "docker_container_not_running" };
  if (!isCount(usage)) return { ok: false, code: "docker_answer_unreadable" };
  return { ok: true, bytes: usage - inactiveFile(member(memory, "stats"), usage) };
}

// Version 1 of the control groups has both keys, version 2 the second alone.
function inactiveFile(stats: unknown, usage: number): number {
  const keys = ["total_inactive_file", "inactive_file"];
  const found = keys.map((key) => member(stats, key)).find((value) => isCount(value) && value < usage);
  return isCount(found) ? found : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

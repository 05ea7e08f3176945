/** The container engine, Docker or Podman: says how much memory the reverse proxy uses. */
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { namedContainer } from "./inspect.ts";
import { type ContainerMemory, memoryOf } from "./stats.ts";

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

/** Known to engines from 25.0 on; one that does not know it is asked again with its own version. */
const API_VERSION = "1.44";
/** The first sample alone: without `one-shot` the engine waits for a second one. */
const SAMPLE = "stats?stream=false&one-shot=true";
/**
 * A name that an engine may take for the beginning of an id; Podman compares by SQL's LIKE, where `_` is any character.
 */
const BEGINNING_OF_AN_ID = /^[0-9a-f_]+$/i;

/**
 * The memory of the container of exactly this name, as `docker stats` shows it.
 *
 * Behaviour: asks for its inspection and one sample at the same time. Most engines in use leave the name out of the
 *            sample (23.0.8 on, 24.0.7 on, 25.0 to 28.5.2): then the inspection proves it, because an engine takes a
 *            name for the beginning of another container's id only when no container has that name and it looks like an
 *            id. A name that looks like an id is inspected first, and the sample is asked for by the full id.
 * Errors:    none thrown; `docker_container_missing`, `docker_container_not_running`, `docker_memory_unknown` (it runs,
 *            and the engine measures none), `docker_answer_unreadable`, `docker_http_<status>`, `docker_unreachable`
 *            and the other codes of a call.
 * Source:    moby api/swagger.yaml, ContainerInspect and ContainerStats; daemon/container.go, GetContainer;
 *            daemon/stats.go at 20.10.27 to 29.0.0; read 2026-11-22.
 */
export async function readContainerMemory(options: DockerOptions): Promise<ContainerMemory> {
  const first = await ask(options, API_VERSION);
  const version = versionInstead(first);
  const { inspected, sampled } = version === null ? first : await ask(options, version);
  return memoryOf(sampled, namedContainer(inspected, options.container), options.container);
}

/**
 * What the engine answered; when the inspection proves nothing, no sample is asked for and the inspection takes its
 * place.
 */
type Answers = { inspected: CallResult; sampled: CallResult };

async function ask(options: DockerOptions, version: string): Promise<Answers> {
  const { container } = options;
  const get = (which: string, what: string) =>
    call(options, `/v${version}/containers/${encodeURIComponent(which)}/${what}`);
  if (!BEGINNING_OF_AN_ID.test(container)) {
    const [inspected, sampled] = await Promise.all([get(container, "json"), get(container, SAMPLE)]);
    return { inspected, sampled };
  }
  const inspected = await get(container, "json");
  const named = namedContainer(inspected, container);
  return { inspected, sampled: named.status === "ok" ? await get(named.id, SAMPLE) : inspected };
}

/** The engine's own version, which every answer names, when it refused ours as too new or too old; else null. */
function versionInstead({ inspected, sampled }: Answers): string | null {
  const refusal = [inspected, sampled].find(({ answer }) => answer?.status === 400);
  const version = refusal?.answer?.headers.get("api-version") ?? "";
  return /^\d\.\d{1,3}$/.test(version) && version !== API_VERSION ? version : null;
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

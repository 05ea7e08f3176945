/** A stand-in of the container engine: the Docker Engine API's inspection and single sample of a container. */
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/**
 * What kinds of engines answer differently.
 *
 * Shape:  `ambiguous`: the status for the beginning of several ids; `stopped`: what the statistics of a container are that
 *         does not run: zeros, an error after a 200, or a 409; `isLike`: the beginning of an id is compared as by SQL.
 * Source: moby/moby from 20.10.27 to 29.0.0 (daemon/stats.go, daemon/container.go); containers/podman 4.0 and 6.0
 *         (pkg/api/handlers/compat, libpod/sqlite_state.go), read 2026-11-22. Docker 26.1.5 and Podman 5.4.2 were also
 *         asked.
 */
export const ENGINES = {
  "Docker 20.10": { ambiguous: 500, stopped: "zeros", isLike: false },
  "Docker 29.0": { ambiguous: 400, stopped: "zeros", isLike: false },
  "Podman 4.0": { ambiguous: 404, stopped: "conflict", isLike: true },
  "Podman 5.4": { ambiguous: 404, stopped: "late error", isLike: true },
} as const;

/** The name of a kind of engine. */
export type EngineName = keyof typeof ENGINES;

/** One container; `stats` are those of its memory, as the engine sends them. */
export type EngineContainer = {
  id: string;
  state: "created" | "running" | "paused" | "restarting" | "exited" | "dead";
  usage: number;
  stats: Record<string, number>;
  env: string[];
};

/** Settings of the engine. */
export type EngineOptions = StandInOptions & {
  containers: Record<string, EngineContainer>;
  kind?: EngineName;
};

/** A running engine; `containers` may be changed while it runs. */
export type Engine = StandIn<"inspect" | "stats"> & {
  containers: Map<string, EngineContainer>;
  /** Awaited by every call when it has arrived, before the engine looks the container up. */
  arrival: ((entry: LedgerEntry) => Promise<void>) | null;
};

/** A container that runs and uses 500 MiB as `docker stats` shows it. */
export function runningContainer(parts: Partial<EngineContainer> = {}): EngineContainer {
  return {
    id: "9f3c0d".padEnd(64, "0"),
    state: "running",
    usage: 524_288_000 + 45_678_592,
    stats: { anon: 102_400_000, file: 81_000_000, inactive_file: 45_678_592, active_file: 35_300_000 },
    env: [],
    ...parts,
  };
}

/** Starts an engine. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const kind = ENGINES[options.kind ?? "Docker 29.0"];
  const containers = new Map(Object.entries(options.containers));

  async function looked(
    entry: LedgerEntry,
    [, wanted]: RegExpMatchArray,
    work: () => Promise<void>,
    show: (name: string, container: EngineContainer) => Answer,
  ): Promise<Answer> {
    await engine.arrival?.(entry);
    const found = find(containers, decodeURIComponent(wanted!), kind);
    await work();
    return Array.isArray(found) ? show(...found) : found;
  }

  const standIn = await startStandIn(
    {
      inspect: {
        method: "GET",
        pattern: /^\/containers\/([^/]+)\/json$/,
        handle: (entry, match, work) =>
          looked(entry, match, work, (name, container) => inspection(name, container, entry)),
      },
      stats: {
        method: "GET",
        pattern: /^\/containers\/([^/]+)\/stats$/,
        handle: (entry, match, work) =>
          looked(entry, match, work, (_name, container) => sample(container, entry, kind.stopped)),
      },
    },
    { ...options, notFound: () => refusal(404, "page not found") },
  );
  const engine: Engine = Object.assign(standIn, { containers, arrival: null });
  return engine;
}

/** The full id first, then the exact name, then the one id that begins so. */
function find(
  containers: ReadonlyMap<string, EngineContainer>,
  wanted: string,
  { ambiguous, isLike }: { ambiguous: number; isLike: boolean },
): [string, EngineContainer] | Answer {
  const all = [...containers];
  const exact = all.find(([, { id }]) => id === wanted) ?? all.find(([name]) => name === wanted);
  if (exact !== undefined) return exact;
  const beginning = new RegExp(`^${wanted.replaceAll(".", "\\.").replaceAll("_", ".")}`, "i");
  const byPrefix = all.filter(([, { id }]) => (isLike ? beginning.test(id) : id.startsWith(wanted)));
  if (byPrefix.length > 1) return refusal(ambiguous, `multiple IDs found with provided prefix: ${wanted}`);
  return byPrefix[0] ?? refusal(404, `No such container: ${wanted}`);
}

/** What the engine shows of a container; names of other things, and its environment, stand in it too. */
function inspection(name: string, { id, state, env }: EngineContainer, entry: LedgerEntry): Answer {
  if ([...queryOf(entry)].length > 0) return refusal(500, "this stand-in measures no sizes");
  const runs = isAlive(state) || state === "restarting";
  return {
    status: 200,
    json: {
      Id: id,
      Created: "2026-11-22T06:41:19.473517446Z",
      State: {
        Status: state,
        Running: runs,
        Paused: state === "paused",
        Restarting: state === "restarting",
        Dead: state === "dead",
        Pid: isAlive(state) ? 118 : 0,
      },
      Name: `/${name}`,
      HostConfig: { NetworkMode: "host", RestartPolicy: { Name: "always", MaximumRetryCount: 0 } },
      GraphDriver: { Data: null, Name: "overlay2" },
      Config: { Hostname: id.slice(0, 12), Env: env, Labels: { "com.docker.compose.service": "traefik" } },
    },
  };
}

function sample(
  { state, usage, stats }: EngineContainer,
  entry: LedgerEntry,
  stopped: (typeof ENGINES)[EngineName]["stopped"],
): Answer {
  const query = queryOf(entry);
  if (query.get("stream") !== "false" || query.get("one-shot") !== "true")
    return refusal(500, "this stand-in sends the first sample alone");
  if (isAlive(state)) {
    const memory_stats = { usage, limit: 8_324_009_984, stats };
    return { status: 200, json: { read: "2026-11-22T06:41:20.763629498Z", cpu_stats: {}, memory_stats } };
  }
  if (stopped === "conflict") return refusal(409, "container state improper");
  if (stopped === "zeros")
    return { status: 200, json: { read: "0001-01-01T00:00:00Z", cpu_stats: {}, memory_stats: {} } };
  const text = "container is stopped";
  return { status: 200, json: { cause: text, message: text, response: 500 } };
}

function isAlive(state: EngineContainer["state"]): boolean {
  return state === "running" || state === "paused";
}

function queryOf({ path }: LedgerEntry): URLSearchParams {
  return new URLSearchParams(path.split("?")[1]);
}

function refusal(status: number, message: string): Answer {
  return { status, json: { message } };
}

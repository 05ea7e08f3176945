/** A stand-in of the container engine: the Docker Engine API's inspection and single sample of a container. */
import { GENERATIONS, type Generation, type GenerationName } from "./docker-generations.ts";
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** One container; `stats` are those of its memory, as the engine sends them. */
export type EngineContainer = {
  id: string;
  state: "created" | "running" | "paused" | "restarting" | "exited" | "dead";
  usage: number;
  stats: Record<string, number>;
  env: string[];
};

/** Settings of the engine; one of those most in use unless another generation is named. */
export type EngineOptions = StandInOptions & {
  containers: Record<string, EngineContainer>;
  generation?: GenerationName;
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
  const generation: Generation = GENERATIONS[options.generation ?? "Docker 28.5.2"];
  const containers = new Map(Object.entries(options.containers));

  async function looked(
    entry: LedgerEntry,
    [, wanted]: RegExpMatchArray,
    work: () => Promise<void>,
    show: (name: string, container: EngineContainer) => Answer,
  ): Promise<Answer> {
    await engine.arrival?.(entry);
    const found = find(containers, decodeURIComponent(wanted!), generation);
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
          looked(entry, match, work, (name, container) => {
            const isSample = queryOf(entry).get("one-shot") === "true";
            return sample(name, container, entry, isSample ? generation : GENERATIONS["Docker 29.0"]);
          }),
      },
    },
    {
      ...options,
      notFound: () => refusal(404, "page not found"),
      headers: () => ({ "api-version": generation.newest, ostype: "linux" }),
    },
  );
  const engine: Engine = Object.assign(standIn, { containers, arrival: null });
  return engine;
}

/** The full id first, then the exact name, then the one id that begins so. */
function find(
  containers: ReadonlyMap<string, EngineContainer>,
  wanted: string,
  { ambiguousPrefix, prefixes }: Generation,
): [string, EngineContainer] | Answer {
  const all = [...containers];
  const exact = all.find(([, { id }]) => id === wanted) ?? all.find(([name]) => name === wanted);
  if (exact !== undefined) return exact;
  const beginning = new RegExp(`^${wanted.replaceAll(".", "\\.").replaceAll("_", ".")}`, "i");
  const byPrefix = all.filter(([, { id }]) =>
    prefixes === "like" ? beginning.test(id) : id.startsWith(wanted),
  );
  if (byPrefix.length > 1)
    return refusal(ambiguousPrefix, `multiple IDs found with provided prefix: ${wanted}`);
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
  name: string,
  { id, state, usage, stats }: EngineContainer,
  entry: LedgerEntry,
  { sampleNames, stopped }: Generation,
): Answer {
  if (queryOf(entry).get("stream") !== "false") return refusal(500, "this stand-in does not stream");
  const unread = { read: "0001-01-01T00:00:00Z", preread: "0001-01-01T00:00:00Z", cpu_stats: {} };
  if (!isAlive(state)) {
    if (stopped === "conflict") return refusal(409, "container state improper");
    if (stopped === "late error")
      return {
        status: 200,
        json: { cause: "container is stopped", message: "container is stopped", response: 500 },
      };
    return { status: 200, json: { ...unread, memory_stats: {}, name: `/${name}`, id } };
  }
  const named = { slashed: { name: `/${name}`, id }, plain: { name, id }, none: {} }[sampleNames];
  const memory = { usage, limit: 8_324_009_984, stats };
  const read = "2026-11-22T06:41:20.763629498Z";
  return { status: 200, json: { ...unread, read, memory_stats: memory, ...named } };
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

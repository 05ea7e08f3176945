/** A stand-in of the container engine: the Docker Engine API's ping and statistics, on a Unix socket. */
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** One container; `stats` are those of its memory, as the engine sends them. */
export type EngineContainer = {
  id: string;
  state: "running" | "exited";
  usage: number;
  stats: Record<string, number>;
};

/** Settings of the engine; its newest and its oldest version of the API. */
export type EngineOptions = StandInOptions & {
  containers: Record<string, EngineContainer>;
  newest?: string;
  oldest?: string;
};

/** A running engine; `containers` may be changed while it runs. */
export type Engine = StandIn<"stats" | "ping"> & { containers: Map<string, EngineContainer> };

/** A container that runs and uses 500 MiB as `docker stats` shows it. */
export function runningContainer(parts: Partial<EngineContainer> = {}): EngineContainer {
  return {
    id: "9f3c0d".padEnd(64, "0"),
    state: "running",
    usage: 524_288_000 + 45_678_592,
    stats: { anon: 102_400_000, file: 81_000_000, inactive_file: 45_678_592, active_file: 35_300_000 },
    ...parts,
  };
}

/** Starts an engine. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { newest = "1.56", oldest = "1.40" } = options;
  const containers = new Map(Object.entries(options.containers));

  function refusal(status: number, message: string): Answer {
    return { status, json: { message } };
  }

  function find(wanted: string): [string, EngineContainer] | Answer {
    const exact = [...containers].find(([name, { id }]) => name === wanted || id === wanted);
    if (exact !== undefined) return exact;
    const byPrefix = [...containers].filter(([, { id }]) => id.startsWith(wanted));
    if (byPrefix.length > 1) return refusal(400, `multiple IDs found with provided prefix: ${wanted}`);
    return byPrefix[0] ?? refusal(404, `No such container: ${wanted}`);
  }

  async function stats(
    entry: LedgerEntry,
    version: string,
    wanted: string,
    work: () => Promise<void>,
  ): Promise<Answer> {
    if (minor(version) > minor(newest))
      return refusal(400, `client version ${version} is too new. Maximum supported API version is ${newest}`);
    if (minor(version) < minor(oldest))
      return refusal(400, `client version ${version} is too old. Minimum supported API version is ${oldest}`);
    const query = new URLSearchParams(entry.path.split("?")[1]);
    if (query.get("stream") !== "false") return refusal(500, "this stand-in does not stream");
    const found = find(decodeURIComponent(wanted));
    if (!Array.isArray(found)) return found;
    await work();
    const [name, container] = found;
    const head = { id: container.id, name: `/${name}` };
    // What the engine answers for a container that does not run: 200, and nothing measured.
    if (container.state !== "running")
      return { status: 200, json: { ...head, memory_stats: {}, cpu_stats: {} } };
    const { usage, stats } = container;
    return {
      status: 200,
      json: {
        ...head,
        preread: "0001-01-01T00:00:00Z",
        memory_stats: { usage, limit: 8_324_009_984, stats },
      },
    };
  }

  const standIn = await startStandIn(
    {
      stats: {
        method: "GET",
        pattern: /^\/v(1\.\d+)\/containers\/([^/]+)\/stats$/,
        handle: (entry, match, work) => stats(entry, match[1]!, match[2]!, work),
      },
      ping: { method: "GET", pattern: /^\/_ping$/, handle: async () => ({ status: 200, text: "OK" }) },
    },
    {
      ...options,
      notFound: () => refusal(404, "page not found"),
      headers: () => ({ "api-version": newest, ostype: "linux" }),
    },
  );
  return Object.assign(standIn, { containers });
}

function minor(version: string): number {
  return Number(version.split(".")[1]);
}

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { readContainerMemory } from "../../../lib/providers/docker/client.ts";
import {
  ENGINES,
  type Engine,
  type EngineName,
  type EngineOptions,
  runningContainer,
  startEngine,
} from "../../standins/docker-engine.ts";
import type { Answer } from "../../standins/standin.ts";

const MEMORY = { status: "ok", bytes: 524_288_000 } as const;
const MISSING = { status: "failed", code: "docker_container_missing" } as const;
const STOPPED = { status: "failed", code: "docker_container_not_running" } as const;
const UNREADABLE = { status: "failed", code: "docker_answer_unreadable" } as const;
let folder: string;
let socket: string;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-engine-"));
  socket = join(folder, "docker.sock");
  engine = await startEngine({ unixSocket: socket, containers: {} });
});
beforeEach(() => {
  engine.containers.clear();
  engine.containers.set("traefik", runningContainer());
  engine.ledger.length = 0;
  engine.arrival = null;
  for (const route of Object.values(engine.routes)) route.script = null;
});
afterAll(async () => {
  await engine.stop();
  rmSync(folder, { recursive: true });
});

/** For an engine that answers, on the busiest machine. */
const LONG_MS = 60_000;
const read = (container = "traefik", unixSocket = socket, timeoutMs = LONG_MS) =>
  readContainerMemory({ address: { unixSocket }, container, timeoutMs });

describe.each(Object.keys(ENGINES) as EngineName[])("readContainerMemory() of %s", (kind) => {
  test("is the memory of a container that runs or is paused, and never zero for one that does not run", async () => {
    await using one = await openEngine({ kind });
    for (const state of ["running", "paused", "created", "exited", "dead", "restarting"] as const) {
      one.engine.containers.set("traefik", runningContainer({ state }));
      const expected = state === "running" || state === "paused" ? MEMORY : STOPPED;
      expect([state, await read("traefik", one.path)]).toEqual([state, expected]);
    }
    expect(one.engine.unexpected).toEqual([]);
  });

  test("is that of the exact name alone, not of one that begins alike or has such an id", async () => {
    const other = runningContainer({ id: "cafe".padEnd(64, "1") });
    await using one = await openEngine({ kind, containers: { "traefik-dev": other } });
    for (const name of ["traefik", "cafe", "caf_", "CAFE", "ca.e", other.id])
      expect([name, await read(name, one.path)]).toEqual([name, MISSING]);
    for (const name of ["cafe", "shop-traefik-1", "shop_traefik_1", "traefik.1.x7c0q9", "a.b--c__d", "0"]) {
      one.engine.containers.set(name, runningContainer());
      expect([name, await read(name, one.path)]).toEqual([name, MEMORY]);
      one.engine.containers.delete(name);
    }
    one.engine.containers.set("another", runningContainer({ id: "cafe".padEnd(64, "2") }));
    // The beginning of two ids: each engine has a status of its own for it.
    expect((await read("cafe", one.path)).status).toBe("failed");
  });

  const replacement = runningContainer({ id: "beef".padEnd(64, "0"), usage: 1_000, stats: {} });
  test.each<[string, (containers: Engine["containers"]) => unknown]>([
    ["goes", (containers) => containers.delete("cafe")],
    ["is replaced", (containers) => containers.set("cafe", replacement)],
  ])(
    "is not known when the container %s between the two calls, even if another's id is its name",
    async (_how, change) => {
      const stranger = runningContainer({ id: "cafe".padEnd(64, "1"), usage: 7 });
      const containers = { cafe: runningContainer(), other: stranger };
      await using one = await openEngine({ kind, containers });
      one.engine.arrival = async ({ path }) => {
        if (path.includes("/stats?")) change(one.engine.containers);
      };
      expect(await read("cafe", one.path)).toEqual(MISSING);
    },
  );
});

describe("readContainerMemory()", () => {
  test("inspects the name, and reads one sample by the full id", async () => {
    const { id } = runningContainer();
    expect(await read()).toEqual(MEMORY);
    expect(engine.ledger.map(({ path }) => path)).toEqual([
      "/containers/traefik/json",
      `/containers/${id}/stats?stream=false&one-shot=true`,
    ]);
  });

  const shown: [string, number, Record<string, number>, number][] = [
    ["version 2 of the control groups", 1_000, { inactive_file: 300 }, 700],
    ["version 1", 1_000, { total_inactive_file: 400, inactive_file: 300 }, 600],
    ["version 1, whose total is too large", 1_000, { total_inactive_file: 1_000, inactive_file: 300 }, 700],
    ["more inactive pages than usage", 1_000, { inactive_file: 1_000 }, 1_000],
    ["no such counter", 1_000, { cache: 300 }, 1_000],
    ["counters beyond 2^53", 1_000, { hierarchical_memory_limit: 1.8e19, inactive_file: 1 }, 999],
  ];
  test.each(shown)("shows what docker stats shows: %s", async (_name, usage, stats, bytes) => {
    engine.containers.set("traefik", runningContainer({ usage, stats }));
    expect(await read()).toEqual({ status: "ok", bytes });
  });

  const NO_MEMORY = { status: "failed", code: "docker_memory_unknown" } as const;
  const answer = (json: unknown, status = 200): Answer => ({ status, json });
  const sample = (memory_stats: unknown) => answer({ memory_stats });
  // What an engine sends that has begun to answer before it measures: seen with 26.1.5.
  const LATE = answer({ message: "no metrics received" });
  test.each<[string, Answer, object]>([
    ["no body", { status: 200, text: "" }, STOPPED],
    ["too late", LATE, NO_MEMORY],
    ["nothing measured", sample({}), NO_MEMORY],
    ["zero", sample({ usage: 0 }), NO_MEMORY],
    ["counters without the usage", sample({ stats: { anon: 0 } }), NO_MEMORY],
    ["500", answer({ message: "no" }, 500), { status: "failed", code: "docker_http_500" }],
    ["a usage as text", sample({ usage: "5" }), UNREADABLE],
    ["a negative usage", sample({ usage: -1 }), UNREADABLE],
    ["a usage of null", sample({ usage: null }), UNREADABLE],
    ["a word", answer("traefik"), UNREADABLE],
  ])("is never zero for a sample without memory: %s", async (_name, given, expected) => {
    engine.routes.stats.next(given);
    expect(await read()).toEqual(expected as Awaited<ReturnType<typeof read>>);
  });

  test("takes no container for the one that is wanted whose name and id are not proved", async () => {
    const inspection = (Name: string) => ({ status: 200, json: { Id: "9f3c0d".padEnd(64, "0"), Name } });
    for (const [inspected, code] of [
      [{ status: 500, json: { message: "no" } }, "docker_http_500"],
      [{ status: 404, json: { message: "No such container: traefik" } }, "docker_container_missing"],
      [inspection("/traefik2"), "docker_container_missing"],
      [inspection("/my-traefik"), "docker_container_missing"],
      [inspection("traefik"), "docker_container_missing"],
      [{ status: 200, json: { Id: "short", Name: "/traefik" } }, "docker_answer_unreadable"],
      [{ status: 200, json: { Id: "9f3c0d".padEnd(64, "0") } }, "docker_answer_unreadable"],
      [{ status: 200, text: "" }, "docker_answer_unreadable"],
      ["drop", "docker_unreachable"],
    ] as const) {
      // For every call: a dropped one is made again by the runtime.
      engine.routes.inspect.script = () => inspected;
      expect(await read()).toEqual({ status: "failed", code });
    }
    expect(engine.ledger.filter(({ path }) => path.includes("/stats?"))).toEqual([]);
  });

  const faults = [
    ["hang", "docker_timeout"],
    ["drop", "docker_unreachable"],
    ["not_json", "docker_answer_unreadable"],
    ["huge", "docker_answer_unreadable"],
    ["not_http", "docker_unreachable"],
  ] as const;
  test.each(faults)("says that it is not known: %s", async (fault, code) => {
    for (const route of ["inspect", "stats"] as const) {
      engine.routes[route].script = () => fault;
      const memory = await read("traefik", socket, fault === "hang" ? 500 : LONG_MS);
      expect([route, memory]).toEqual([route, { status: "failed", code }]);
      engine.routes[route].script = null;
    }
  });

  test("shows nothing of the container's environment, which an inspection contains", async () => {
    const env = ["DNS_API_TOKEN=canary-of-the-environment"];
    engine.containers.set("traefik", runningContainer({ env }));
    const records: CallRecord[] = [];
    const address = { unixSocket: socket };
    const onCall = (record: CallRecord) => records.push(record);
    const memory = await readContainerMemory({ address, container: "traefik", timeoutMs: LONG_MS, onCall });
    expect(records.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.stringify([memory, records])).not.toContain("canary");
  });

  test("says so where nobody listens", async () => {
    const plain = join(folder, "plain");
    writeFileSync(plain, "");
    for (const path of [join(folder, "nothing"), plain])
      expect(await read("traefik", path)).toMatchObject({
        status: "failed",
        code: expect.stringMatching(/unreachable/),
      });
  });
});

let opened = 0;
async function openEngine(options: Partial<EngineOptions>) {
  opened += 1;
  const path = join(folder, `${opened}.sock`);
  const containers = { traefik: runningContainer() };
  const engine = await startEngine({ unixSocket: path, containers, ...options });
  return { path, engine, [Symbol.asyncDispose]: () => engine.stop() };
}

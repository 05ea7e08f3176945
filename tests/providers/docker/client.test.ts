import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { readContainerMemory } from "../../../lib/providers/docker/client.ts";
import {
  type Engine,
  type EngineOptions,
  runningContainer,
  startEngine,
} from "../../standins/docker-engine.ts";
import { GENERATION_NAMES, type GenerationName } from "../../standins/docker-generations.ts";
import type { Answer } from "../../standins/standin.ts";

const MEMORY = { status: "ok", bytes: 524_288_000 } as const;
const MISSING = { status: "failed", code: "docker_container_missing" } as const;
const STOPPED = { status: "failed", code: "docker_container_not_running" } as const;
const UNREADABLE = { status: "failed", code: "docker_answer_unreadable" } as const;
/** Docker engines of this age send a sample without the container's name, and are asked without negotiation. */
const NAMELESS: GenerationName = "Docker 26.1.5";

let folder: string;
let socket: string;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-engine-"));
  socket = join(folder, "docker.sock");
  engine = await startEngine({ unixSocket: socket, containers: {}, generation: NAMELESS });
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

describe.each(GENERATION_NAMES)("readContainerMemory() of %s", (generation) => {
  test("is the memory of the running container, a paused one included", async () => {
    await using one = await openEngine({ generation });
    expect(await read("traefik", one.path)).toEqual(MEMORY);
    one.engine.containers.set("traefik", runningContainer({ state: "paused" }));
    expect(await read("traefik", one.path)).toEqual(MEMORY);
    expect(one.engine.unexpected).toEqual([]);
  });

  test("is never zero for a container that does not run", async () => {
    await using one = await openEngine({ generation });
    for (const state of ["created", "exited", "dead"] as const) {
      one.engine.containers.set("traefik", runningContainer({ state }));
      expect(await read("traefik", one.path)).toEqual(STOPPED);
    }
  });

  test("is that of the exact name alone, not of one that begins alike or has such an id", async () => {
    const other = runningContainer({ id: "cafe".padEnd(64, "1") });
    await using one = await openEngine({ generation, containers: { "traefik-dev": other } });
    for (const name of ["traefik", "cafe", "caf_", "CAFE", "ca.e", other.id])
      expect([name, await read(name, one.path)]).toEqual([name, MISSING]);
    one.engine.containers.set("cafe", runningContainer());
    expect(await read("cafe", one.path)).toEqual(MEMORY);
    one.engine.containers.delete("cafe");
    one.engine.containers.set("another", runningContainer({ id: "cafe".padEnd(64, "2") }));
    // The beginning of two ids: each generation has a status of its own for it.
    expect((await read("cafe", one.path)).status === "ok").toBe(false);
  });

  test.each(["shop-traefik-1", "shop_traefik_1", "traefik.1.x7c0q9", "a.b--c__d", "cafe_", "0"])(
    "finds a container with the name %s",
    async (name) => {
      await using one = await openEngine({ generation, containers: { [name]: runningContainer() } });
      expect(await read(name, one.path)).toEqual(MEMORY);
    },
  );

  test("never takes another container that has the id of its name, when its own goes between the two calls", async () => {
    const stranger = runningContainer({ id: "cafe".padEnd(64, "1"), usage: 7 });
    const containers = { cafe: runningContainer(), other: stranger };
    await using one = await openEngine({ generation, containers });
    one.engine.arrival = async ({ path }) => {
      if (path.includes("/stats?")) one.engine.containers.delete("cafe");
    };
    expect(await read("cafe", one.path)).toEqual(MISSING);
  });

  test("is that of the new container when the old one is replaced between the two calls", async () => {
    await using one = await openEngine({ generation });
    const replaced = runningContainer({ id: "beef".padEnd(64, "0"), usage: 1_000, stats: {} });
    one.engine.arrival = async ({ path }) => {
      if (path.includes("/stats?")) one.engine.containers.set("traefik", replaced);
    };
    expect(await read("traefik", one.path)).toEqual({ status: "ok", bytes: 1_000 });
  });

  test("is not known when the container goes between the two calls", async () => {
    await using one = await openEngine({ generation });
    one.engine.arrival = async ({ path }) => {
      if (path.includes("/stats?")) one.engine.containers.clear();
    };
    expect(await read("traefik", one.path)).toEqual(MISSING);
  });
});

describe("readContainerMemory()", () => {
  test("asks twice, side by side, and takes the inactive pages off", async () => {
    const both = Promise.withResolvers<void>();
    engine.arrival = () => {
      if (engine.ledger.length === 2) both.resolve();
      return both.promise;
    };
    expect(await read()).toEqual(MEMORY);
    expect(engine.ledger.map(({ path }) => path).sort()).toEqual([
      "/v1.44/containers/traefik/json",
      "/v1.44/containers/traefik/stats?stream=false&one-shot=true",
    ]);
  });

  test("asks for the sample by the full id when the name could be the beginning of one", async () => {
    const { id } = runningContainer();
    engine.containers.set("decade", runningContainer());
    expect(await read("decade")).toEqual(MEMORY);
    expect(engine.ledger.map(({ path }) => path)).toEqual([
      "/v1.44/containers/decade/json",
      `/v1.44/containers/${id}/stats?stream=false&one-shot=true`,
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

  test("says that a container which starts again and again does not run", async () => {
    engine.containers.set("traefik", runningContainer({ state: "restarting" }));
    expect(await read()).toEqual(STOPPED);
  });

  const NO_MEMORY = { status: "failed", code: "docker_memory_unknown" } as const;
  const answer = (json: unknown, status = 200): Answer => ({ status, json });
  const sample = (memory_stats: unknown, read = "2026-11-22T06:41:20.763629498Z") =>
    answer({ read, memory_stats });
  const NEVER = "0001-01-01T00:00:00Z";
  // What an engine sends that has begun to answer before it measures: seen with 26.1.5.
  const LATE = answer({ message: "no metrics received" });
  const FAILED = { message: "ttrpc: closed" };
  test.each<[string, "running" | "exited", Answer, object]>([
    ["no body", "running", { status: 200, text: "" }, STOPPED],
    ["never read", "running", sample({}, NEVER), STOPPED],
    ["never read, zero", "running", sample({ usage: 0 }, NEVER), STOPPED],
    ["409 for a container that has ended", "exited", answer(FAILED, 409), STOPPED],
    ["500 for a container that has ended", "exited", answer(FAILED, 500), STOPPED],
    ["too late for a container that has ended", "exited", LATE, STOPPED],
    ["too late", "running", LATE, NO_MEMORY],
    ["nothing measured", "running", sample({}), NO_MEMORY],
    ["zero", "running", sample({ usage: 0 }), NO_MEMORY],
    ["counters without the usage", "running", sample({ stats: { anon: 0 } }), NO_MEMORY],
    ["500", "running", answer({ message: "no" }, 500), { status: "failed", code: "docker_http_500" }],
    ["a usage as text", "running", answer({ memory_stats: { usage: "5" } }), UNREADABLE],
    ["a negative usage", "running", answer({ memory_stats: { usage: -1 } }), UNREADABLE],
    ["a usage of null", "running", answer({ memory_stats: { usage: null } }), UNREADABLE],
    ["a word", "running", answer("traefik"), UNREADABLE],
  ])("is never zero for a sample without memory: %s", async (_name, state, given, expected) => {
    engine.containers.set("traefik", runningContainer({ state }));
    engine.routes.stats.next(given);
    expect(await read()).toEqual(expected as Awaited<ReturnType<typeof read>>);
  });

  test("takes no sample for the container's that says it is of another, or whose container is not proved", async () => {
    const memory_stats = { usage: 1_000 };
    const of = (parts: object) => ({ status: 200, json: { memory_stats, ...parts } });
    engine.routes.stats.next(of({ name: "/traefik-dev" }), of({ id: "beef".padEnd(64, "0") }));
    expect(await read()).toEqual(MISSING);
    expect(await read()).toEqual(MISSING);
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
      engine.routes.stats.next(of({}));
      expect(await read()).toEqual({ status: "failed", code });
    }
    engine.routes.stats.next(of({ name: "/traefik" }));
    expect(await read()).toEqual({ status: "ok", bytes: 1_000 });
  });

  test.each(["1.41", "1.24"])("speaks the version of an older engine, %s", async (newest) => {
    await using old = await openEngine({ newest, oldest: "1.12" });
    expect(await read("traefik", old.path)).toEqual(MEMORY);
    expect(old.engine.routes.stats.calls.map(({ path }) => path.split("/")[1])).toEqual([
      "v1.44",
      `v${newest}`,
    ]);
    expect(old.engine.ledger).toHaveLength(4);
  });

  test("speaks the version of an engine that has dropped ours", async () => {
    await using future = await openEngine({ newest: "1.99", oldest: "1.60" });
    expect(await read("traefik", future.path)).toEqual(MEMORY);
  });

  test("asks no other version where the refusal names none, or the same", async () => {
    for (const version of ["", "1.44", "latest", "1.44/../.."]) {
      engine.routes.inspect.next({ status: 400, headers: { "api-version": version }, json: {} });
      engine.routes.stats.next({ status: 400, headers: { "api-version": version }, json: {} });
      expect(await read()).toEqual({ status: "failed", code: "docker_http_400" });
    }
    expect(engine.ledger).toHaveLength(8);
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

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readContainerMemory } from "../../lib/providers/docker.ts";
import { type Engine, runningContainer, startEngine } from "../standins/docker-engine.ts";

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
});
afterAll(async () => {
  await engine.stop();
  rmSync(folder, { recursive: true });
});

const read = (container = "traefik", unixSocket = socket) =>
  readContainerMemory({ address: { unixSocket }, container, timeoutMs: 2_000 });

describe("readContainerMemory()", () => {
  test("asks once, for the first sample alone, and takes the inactive pages off", async () => {
    expect(await read()).toEqual({ ok: true, bytes: 524_288_000 });
    expect(engine.ledger.map(({ path }) => path)).toEqual([
      "/v1.44/containers/traefik/stats?stream=false&one-shot=true",
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
    expect(await read()).toEqual({ ok: true, bytes });
  });

  test("takes the exact name alone, not one that begins alike, nor an id", async () => {
    engine.containers.delete("traefik");
    engine.containers.set("traefik-dev", runningContainer({ id: "beef".padEnd(64, "0") }));
    expect(await read()).toEqual({ ok: false, code: "docker_container_missing" });
    expect(await read("beef")).toEqual({ ok: false, code: "docker_container_missing" });
  });

  test("never answers zero for a container that does not run", async () => {
    const stopped = { ok: false, code: "docker_container_not_running" } as const;
    engine.containers.set("traefik", runningContainer({ state: "exited" }));
    expect(await read()).toEqual(stopped);
    for (const answer of [
      { text: "" },
      { json: { name: "/traefik" } },
      { json: { name: "/traefik", memory_stats: { usage: 0 } } },
    ]) {
      engine.routes.stats.next({ status: 200, ...answer });
      expect(await read()).toEqual(stopped);
    }
  });

  test.each(["1.41", "1.24"])("speaks the version of an older engine, %s", async (newest) => {
    await using old = await openEngine(newest, "1.24");
    expect(await read("traefik", old.path)).toEqual({ ok: true, bytes: 524_288_000 });
    expect(old.engine.routes.stats.calls.map(({ path }) => path.split("/")[1])).toEqual([
      "v1.44",
      `v${newest}`,
    ]);
  });

  test("speaks the version of an engine that has dropped ours", async () => {
    await using future = await openEngine("1.99", "1.60");
    expect(await read("traefik", future.path)).toEqual({ ok: true, bytes: 524_288_000 });
  });

  const faults = [
    ["hang", "docker_timeout"],
    ["drop", "docker_unreachable"],
    ["not_json", "docker_answer_unreadable"],
    ["huge", "docker_answer_unreadable"],
    ["not_http", "docker_unreachable"],
  ] as const;
  test.each(faults)("says that it is not known: %s", async (fault, code) => {
    engine.routes.stats.next(fault);
    const read = await readContainerMemory({
      address: { unixSocket: socket },
      container: "traefik",
      timeoutMs: 200,
    });
    expect(read).toEqual({ ok: false, code });
  });

  test("says so for an error of the engine and for odd numbers", async () => {
    engine.routes.stats.next({ status: 500, json: { message: "no" } });
    expect(await read()).toEqual({ ok: false, code: "docker_http_500" });
    for (const usage of ["5", -1, null]) {
      engine.routes.stats.next({ status: 200, json: { name: "/traefik", memory_stats: { usage } } });
      expect(await read()).toEqual({ ok: false, code: "docker_answer_unreadable" });
    }
  });

  test("says so where nobody listens", async () => {
    const plain = join(folder, "plain");
    writeFileSync(plain, "");
    for (const path of [join(folder, "nothing"), plain])
      expect(await read("traefik", path)).toMatchObject({
        ok: false,
        code: expect.stringMatching(/unreachable/),
      });
  });
});

async function openEngine(newest: string, oldest: string) {
  const path = join(folder, `v${newest}.sock`);
  const engine = await startEngine({
    unixSocket: path,
    newest,
    oldest,
    containers: { traefik: runningContainer() },
  });
  return { path, engine, [Symbol.asyncDispose]: () => engine.stop() };
}

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderReport } from "../../lib/metrics/render.ts";
import { collectMetrics } from "../../lib/metrics/run.ts";
import { runningContainer } from "../standins/docker-engine.ts";
import { projectOf } from "../standins/hosting.ts";
import { until } from "../support/until.ts";
import { gaugesOf, type Series } from "../text/support/prometheus-parser.ts";
import { type CollectArena, openCollectArena } from "./support/dependencies.ts";

let arena: CollectArena;
beforeEach(async () => {
  arena = await openCollectArena();
});
afterEach(() => arena[Symbol.asyncDispose]());

async function collect(limitsMs?: Record<string, number>) {
  const report = await collectMetrics(await arena.dependencies(limitsMs));
  const series = gaugesOf(renderReport(report));
  const problems = Object.fromEntries(
    report.sources.map(({ name, problem }) => [name, problem?.code ?? null]),
  );
  return { report, series, problems };
}

function valuesOf(series: Series[], wanted: string): unknown[] {
  return series
    .filter(({ name }) => name === wanted)
    .map(({ labels, value }) =>
      Object.keys(labels).length === 0 ? value : [...Object.values(labels), value],
    );
}

const fine = { sockets: null, proxy_memory: null, hosting: null, heartbeat: null };

describe("collectMetrics()", () => {
  test("has every series when all is well", async () => {
    const heartbeat = join(arena.folder, "weekly_performance_reports.success");
    writeFileSync(heartbeat, "{}");
    utimesSync(heartbeat, 0, 1_794_000_000.5);
    const { series, problems } = await collect();
    expect(problems).toEqual(fine);
    expect(valuesOf(series, "proxy_memory_bytes")).toEqual([524_288_000]);
    expect(valuesOf(series, "hosting_deploy_failed")).toEqual([
      ["blog", 0],
      ["loja", 1],
    ]);
    expect(valuesOf(series, "weekly_report_last_success_timestamp_seconds")).toEqual([1_794_000_000.5]);
    expect(valuesOf(series, "opsctl_collector_last_run_timestamp_seconds")).toEqual([1_795_275_009.961]);
    expect(valuesOf(series, "opsctl_collector_up")).toEqual([
      ["proxy_memory", 1],
      ["hosting", 1],
      ["sockets", 1],
      ["heartbeat", 1],
    ]);
    expect(valuesOf(series, "opsctl_collector_duration_seconds")).toHaveLength(4);
    expect(valuesOf(series, "tcp_close_wait_total")).toHaveLength(1);
    expect(Number(valuesOf(series, "tcp_sockets_total")[0])).toBeGreaterThan(0);
  });

  test("calls the engine and the hosting provider at the same time", async () => {
    const { engine, hosting } = arena;
    engine.arrival = () => until("both calls", () => engine.ledger.length > 0 && hosting.ledger.length > 0);
    expect((await collect()).problems).toEqual(fine);
  });

  test("leaves out an absent heartbeat, which is no failure", async () => {
    const { series, problems } = await collect();
    expect(problems).toEqual(fine);
    expect(valuesOf(series, "weekly_report_last_success_timestamp_seconds")).toEqual([]);
  });

  test("takes a directory in the place of the heartbeat for no success", async () => {
    mkdirSync(join(arena.folder, "weekly_performance_reports.success"));
    const { series, problems } = await collect();
    expect(problems).toEqual({ ...fine, heartbeat: "heartbeat_unreadable" });
    expect(valuesOf(series, "weekly_report_last_success_timestamp_seconds")).toEqual([]);
  });

  test("carries nothing over from the run before, and leaves the others as they are", async () => {
    await collect();
    arena.engine.containers.set("traefik", runningContainer({ state: "exited" }));
    arena.hosting.routes.projects.next({ status: 500, json: {} });
    const { series, problems } = await collect();
    expect(problems).toEqual({
      ...fine,
      proxy_memory: "docker_container_not_running",
      hosting: "hosting_http_500",
    });
    expect(new Set(series.map(({ name }) => name))).toEqual(
      new Set([
        "tcp_close_wait_total",
        "tcp_sockets_total",
        "opsctl_collector_up",
        "opsctl_collector_duration_seconds",
        "opsctl_collector_last_run_timestamp_seconds",
      ]),
    );
    expect(valuesOf(series, "opsctl_collector_up")).toContainEqual(["proxy_memory", 0]);
    expect(valuesOf(series, "opsctl_collector_up")).toContainEqual(["hosting", 0]);
  });

  test("ends when every external service hangs, each source at its own limit", async () => {
    arena.engine.routes.stats.script = () => "hang";
    arena.hosting.routes.projects.script = () => "hang";
    const never = () => new Promise<never>(() => {});
    const dependencies = await arena.dependencies({
      sockets: 30,
      proxy_memory: 40,
      hosting: 50,
      heartbeat: 20,
    });
    const report = await collectMetrics({
      ...dependencies,
      sources: dependencies.sources.map((source) =>
        ["sockets", "heartbeat"].includes(source.name) ? { ...source, read: never } : source,
      ),
    });
    expect(report.sources.map(({ problem }) => problem?.code)).toEqual([
      "proxy_memory_timeout",
      "hosting_timeout",
      "sockets_timeout",
      "heartbeat_timeout",
    ]);
    for (const { durationMs } of report.sources) expect(durationMs).toBeGreaterThanOrEqual(19);
    expect(gaugesOf(renderReport(report)).map(({ name }) => name)).not.toContain("tcp_sockets_total");
  });

  test("is not brought down by a source that throws", async () => {
    const dependencies = await arena.dependencies();
    const thrown = async () => Promise.reject(new TypeError("secret inside"));
    const report = await collectMetrics({
      ...dependencies,
      sources: dependencies.sources.map((source) =>
        source.name === "hosting" ? { ...source, read: thrown } : source,
      ),
    });
    const [problem] = report.sources.flatMap(({ problem }) => (problem === null ? [] : [problem]));
    expect(problem).toEqual({
      code: "hosting_failed",
      message: "Cannot read source hosting: unexpected TypeError",
    });
  });

  test("keeps hostile project names what they are: one value of one label", async () => {
    const names = [
      'a"b\\c',
      "line\nfeed",
      "tab\tcr\rnul\u0000",
      "} 1\nproxy_memory_bytes 0",
      "ação 🚀",
      "\ud800half",
      "\\n",
    ];
    arena.hosting.projects.push(...names.map((name) => projectOf(name, "ERROR")));
    const { series, problems } = await collect();
    expect(problems).toEqual(fine);
    const shown = valuesOf(series, "hosting_deploy_failed").map((row) => (row as unknown[])[0]);
    expect(new Set(shown)).toEqual(
      new Set([
        "blog",
        "loja",
        'a"b\\c',
        "line\nfeed",
        "tab\tcr\rnul\u0000",
        "} 1\nproxy_memory_bytes 0",
        "ação 🚀",
        "\ufffdhalf",
        "\\n",
      ]),
    );
    expect(valuesOf(series, "proxy_memory_bytes")).toEqual([524_288_000]);
  });
});

/** The real readers of the file: Prometheus' own checker, and the exporter whose text-file collector the agent has. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { ownProcessMark } from "../../lib/last-run/process-mark.ts";
import { writeLastRun } from "../../lib/last-run/write.ts";
import { renderReport } from "../../lib/metrics/exposition.ts";
import { collectMetrics } from "../../lib/metrics/run.ts";
import { writeMetricsFile } from "../../lib/metrics/write-metrics-file.ts";
import { projectOf } from "../standins/hosting.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { freePort } from "../support/free-port.ts";
import { findPromtool } from "../support/promtool.ts";
import { until } from "../support/until.ts";
import { UNTIL, WINDOW, weekOf } from "../weekly/announce/support.ts";
import { type CollectArena, openCollectArena } from "./support/dependencies.ts";

let arena: CollectArena;
let text: string;
beforeAll(async () => {
  arena = await openCollectArena();
  arena.hosting.projects.push(projectOf('a"b\\c\nd', "ERROR"));
  writeLastRun(arena.folder, {
    status: "failed",
    runId: "r",
    begunAt: "2026-11-23T11:00:00.5Z",
    window: WINDOW,
    retryableUntil: UNTIL,
    error: null,
    week: weekOf({ email: { unknown: 3 } }),
    process: ownProcessMark(),
    announcement: null,
    waiting: null,
    sent: null,
    refusedAt: null,
  });
  text = renderReport(await collectMetrics(arena.dependencies()));
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("the metrics file", () => {
  test("passes promtool but for the two names that end in _total", () => {
    const promtool = findPromtool();
    if (promtool === null)
      throw new Error("`promtool` is needed for this test: install the Debian package prometheus");
    const { stdout, stderr, status } = spawnSync(promtool, ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    const findings = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
    expect(findings.sort()).toEqual([
      'tcp_close_wait_total non-counter metrics should not have "_total" suffix',
      'tcp_sockets_total non-counter metrics should not have "_total" suffix',
    ]);
    expect(status).toBe(3);
  });

  test("is exposed whole by node_exporter, without an error", async () => {
    const path = join(arena.folder, "custom_metrics.prom");
    writeMetricsFile(path, text);
    const port = await freePort();
    const exporter = startExporter(arena.folder, port);
    try {
      let shown = "";
      await until("the exporter to answer", async () => {
        shown = await fetch(`http://127.0.0.1:${port}/metrics`)
          .then((answer) => answer.text())
          .catch(() => "");
        return shown !== "";
      });
      expect(shown).toContain("node_textfile_scrape_error 0");
      expect(shown).toContain(`node_textfile_mtime_seconds{file="${path}"}`);
      expect(shown).toContain("\nproxy_memory_bytes 5.24288e+08\n");
      expect(shown).toContain('\nhosting_deploy_failed{project="a\\"b\\\\c\\nd"} 1\n');
      expect(shown).toContain('\nopsctl_collector_up{source="sockets"} 1\n');
      expect(shown).toContain('\nweekly_report_open_deliveries{channel="email",state="unknown"} 3\n');
      expect(shown).toContain("\nweekly_report_last_run_success 0\n");
      const names = (of: string) =>
        new Set([...of.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name));
      expect([...names(text)].filter((name) => !names(shown).has(name))).toEqual([]);
    } finally {
      exporter.kill();
    }
  });
});

function startExporter(directory: string, port: number): ChildProcess {
  const program = findDebianTool({
    program: "prometheus-node-exporter",
    packageName: "prometheus-node-exporter",
  });
  if (program === null)
    throw new Error(
      "node_exporter is needed for this test: install the Debian package prometheus-node-exporter",
    );
  const args = [
    "--collector.disable-defaults",
    "--collector.textfile",
    `--collector.textfile.directory=${directory}`,
  ];
  return spawn(program, [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: "ignore" });
}

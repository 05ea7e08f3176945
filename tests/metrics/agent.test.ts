/** The real readers of the file: Prometheus' own checker, and the exporter whose text-file collector the agent has. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../lib/last-run/file-name.ts";
import { opsctl } from "../e2e/support/opsctl.ts";
import { projectOf } from "../standins/hosting.ts";
import { lastRun } from "../status/support/run.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { freePort } from "../support/free-port.ts";
import { runPromtool } from "../support/promtool.ts";
import { NODE_EXPORTER, requires } from "../support/requires.ts";
import { until } from "../support/until.ts";
import { weekOf } from "../weekly/announce/support.ts";
import { type CollectArena, openCollectArena } from "./support/dependencies.ts";

let arena: CollectArena;
let text: string;
beforeAll(async () => {
  arena = await openCollectArena();
  arena.hosting.projects.push(projectOf('a"b\\c\nd', "ERROR"));
  const { run } = lastRun({ status: "failed", week: weekOf({ email: { unknown: 3 } }) });
  writeFileSync(join(arena.folder, LAST_RUN_FILE), JSON.stringify(run));
  await opsctl(["collect-metrics"], { env: arena.env });
  text = readFileSync(join(arena.folder, "custom_metrics.prom"), "utf8");
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("the metrics file", () => {
  requires("promtool").test("passes promtool but for the two names that end in _total", () => {
    const { status, output } = runPromtool(["check", "metrics"], { input: text });
    const findings = output.split("\n").filter((line) => line.trim() !== "");
    expect(findings.sort()).toEqual([
      'tcp_close_wait_total non-counter metrics should not have "_total" suffix',
      'tcp_sockets_total non-counter metrics should not have "_total" suffix',
    ]);
    expect(status).toBe(3);
  });

  requires("node-exporter").test("is exposed whole by node_exporter, without an error", async () => {
    const path = join(arena.folder, "custom_metrics.prom");
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
  const args = [
    ...["--collector.disable-defaults", "--collector.textfile"],
    ...[`--collector.textfile.directory=${directory}`, `--web.listen-address=127.0.0.1:${port}`],
  ];
  return spawn(findDebianTool(NODE_EXPORTER)!, args, { stdio: "ignore" });
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDebianTool } from "../../support/debian-tool.ts";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";

/** A running program of the metrics platform, ready at `url`. */
export type MonitoringProcess = { url: string; [Symbol.asyncDispose](): Promise<void> };

/** How a program is started: its command line, from its folder and its address, and the files of its folder. */
type Plan = {
  words: (folder: string, address: string) => string[];
  files?: Record<string, unknown>;
  readyPath: string;
};

/** The paths of the three programs from Debian's packages; null when one of them is not available. */
export function findMonitoring(): { exporter: string; prometheus: string; alertmanager: string } | null {
  const find = (name: string) => findDebianTool({ program: name, packageName: name });
  const exporter = find("prometheus-node-exporter");
  const prometheus = find("prometheus");
  const alertmanager = findAlertmanager();
  if (exporter === null || prometheus === null || alertmanager === null) return null;
  return { exporter, prometheus, alertmanager };
}

/** The path of Alertmanager; null when it is not available. */
export function findAlertmanager(): string | null {
  const name = "prometheus-alertmanager";
  return findDebianTool({ program: name, packageName: name, readsShare: true });
}

/** Starts node_exporter with the metrics of this machine and those of the text-file directory. */
export function startNodeExporter(path: string, textfileDirectory: string): Promise<MonitoringProcess> {
  const kinds = ["textfile", "cpu", "loadavg", "meminfo", "filesystem"].map((kind) => `--collector.${kind}`);
  return startMonitoring({
    words: (_, address) => [
      path,
      "--collector.disable-defaults",
      ...kinds,
      `--collector.textfile.directory=${textfileDirectory}`,
      `--web.listen-address=${address}`,
    ],
    readyPath: "/metrics",
  });
}

/** Starts Prometheus with this configuration and these rules, both written as JSON, which is valid YAML. */
export function startPrometheus(path: string, config: object, rules: object): Promise<MonitoringProcess> {
  return startMonitoring({
    files: { "prometheus.yml": { ...config, rule_files: ["rules.yml"] }, "rules.yml": rules },
    words: (folder, address) => [
      path,
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
    ],
    readyPath: "/-/ready",
  });
}

/**
 * Starts Alertmanager with one receiver, which gets everything with the secret as a bearer token, unless `changes` to
 * the receiver's webhook or to the route say otherwise.
 */
export function startAlertmanager(
  path: string,
  url: string,
  secret: string,
  changes: { webhook?: object; route?: object } = {},
): Promise<MonitoringProcess> {
  const authorization = { type: "Bearer", credentials: secret };
  const webhook = { url, send_resolved: true, http_config: { authorization }, ...changes.webhook };
  const timing = { group_wait: "100ms", group_interval: "1s", repeat_interval: "1h" };
  const route = { receiver: "opsctl", group_by: ["alertname"], ...timing, ...changes.route };
  const receivers = [{ name: "opsctl", webhook_configs: [webhook] }];
  return startMonitoring({
    files: { "alertmanager.yml": { route, receivers } },
    words: (folder, address) => [
      path,
      `--config.file=${folder}/alertmanager.yml`,
      `--storage.path=${folder}`,
      `--web.listen-address=${address}`,
      "--cluster.listen-address=",
    ],
    readyPath: "/-/ready",
  });
}

async function startMonitoring({ words, files = {}, readyPath }: Plan): Promise<MonitoringProcess> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-monitoring-"));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content));
  const address = `127.0.0.1:${await freePort()}`;
  const [program, ...rest] = words(folder, address);
  const child = spawn(program!, rest, { stdio: ["ignore", "ignore", "pipe"] });
  const url = `http://${address}`;
  await ready(child, `${url}${readyPath}`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "close");
      if (child.kill("SIGKILL")) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  let said = "";
  child.stderr!.on("data", (text) => (said += text));
  const isReady = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(`${url} is ready`, async () => child.exitCode !== null || (await isReady()));
  if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(" ")} ended: ${said}`);
}

/** A real Alertmanager, as Debian packages it, sends to the compiled service. */
import { expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../chaos/until.ts";
import { findDebianTool } from "../debian-tool.ts";
import { freePort, openWebhookArena, SECRET } from "./webhook-process.ts";

const ALERTMANAGER = {
  program: "prometheus-alertmanager",
  packageName: "prometheus-alertmanager",
  readsShare: true,
};
const program = findDebianTool(ALERTMANAGER);

const config = (url: string) => `
route: { receiver: opsctl, group_wait: 100ms, group_interval: 1s, repeat_interval: 1h, group_by: [alertname] }
receivers:
  - name: opsctl
    webhook_configs:
      - url: ${url}
        send_resolved: true
        http_config: { authorization: { type: Bearer, credentials: ${SECRET} } }
`;

type Running = { url: string; child: ChildProcess; folder: string };

async function startAlertmanager(path: string, webhookUrl: string): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-alertmanager-"));
  const file = join(folder, "alertmanager.yml");
  writeFileSync(file, config(webhookUrl));
  const url = `http://127.0.0.1:${await freePort()}`;
  const address = url.slice("http://".length);
  const flags = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=${address}`];
  const child = spawn(path, [...flags, "--cluster.listen-address="], { stdio: "ignore" });
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until("Alertmanager is ready", isReady);
  return { url, child, folder };
}

async function stop({ child, folder }: Running): Promise<void> {
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

async function tell(url: string, alert: object): Promise<void> {
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([alert]),
  });
  expect(response.status).toBe(200);
}

const name =
  program === null
    ? "NOT INSTALLABLE HERE: Alertmanager sends nothing in this run"
    : "Alertmanager's firing and resolved alerts arrive";

test(name, async () => {
  if (program === null) {
    // The fixtures of its documented payloads are all that was tested here, and the name of this test says so.
    expect(findDebianTool(ALERTMANAGER)).toBeNull();
    return;
  }
  await using arena = await openWebhookArena();
  const service = await arena.start();
  const alertmanager = await startAlertmanager(program, service.url);
  try {
    const labels = { alertname: "Disco Raiz Baixo", ruleGroup: "vps-infra", severity: "critical" };
    const annotations = { summary: "Menos de 15 % livres" };
    const startsAt = new Date().toISOString();
    await tell(alertmanager.url, {
      labels,
      annotations,
      startsAt,
      generatorURL: "http://platform.example/rule",
    });
    await until(
      "the message and the issue of the firing alert",
      () => arena.tracker.issues.length === 1 && arena.gateway.accepted.length === 1,
    );
    expect(arena.tracker.issues[0]!.title).toBe("[ALERTA][infra] Disco Raiz Baixo");
    expect(arena.gateway.accepted[0]!.text).toContain("Menos de 15 % livres");
    await tell(alertmanager.url, { labels, annotations, startsAt, endsAt: new Date().toISOString() });
    await until("the message of the resolved alert", () => arena.gateway.accepted.length === 2);
    expect(arena.gateway.accepted[1]!.text).toContain("resolvido");
    expect(arena.tracker.issues).toHaveLength(1);
  } finally {
    await stop(alertmanager);
  }
});

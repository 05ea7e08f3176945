/**
 * The whole chain as Debian packages it: the collector's file, node_exporter, Prometheus with opsctl's own rules,
 * Alertmanager, the compiled service, gateway and tracker.
 */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { alertRules } from "../../../lib/alert-rules/rules/all.ts";
import { type AlertRule, comparisonText } from "../../../lib/alert-rules/rules/rule.ts";
import { HEARTBEAT_FILE } from "../../../lib/last-run/file-name.ts";
import { openCollectArena } from "../../metrics/support/dependencies.ts";
import { projectOf } from "../../standins/hosting.ts";
import { requires } from "../../support/requires.ts";
import { until } from "../../support/until.ts";
import { SECRET } from "../../webhook/support/settings.ts";
import {
  findMonitoring,
  startAlertmanager,
  startNodeExporter,
  startPrometheus,
} from "../support/monitoring-process.ts";
import { opsctl } from "../support/opsctl.ts";
import { openWebhookArena } from "../support/serve.ts";

/** Prometheus looks for Alertmanagers only every five seconds, and four programs are slow on a busy machine. */
const LIMIT_MS = 100_000;
/** A scrape may take as long as the interval: one that is late ends the alerts of its series. */
const SCRAPE = "3s";
const RULES = alertRules({ withExtras: true }).filter(({ source }) => source === "metrics");
/**
 * The others depend on how busy and how full this machine is, on whether today is Monday, or on whether the webhook is
 * scraped before the rules are first evaluated: their queries are run, but they may fire or not.
 */
const DECIDED_HERE = RULES.filter(
  ({ query, watchesWebhook }) => !/node_|tcp_|day_of_week/.test(query) && !watchesWebhook,
);

/** A rule in Prometheus's own words, without the time that it waits. */
const ruleOf = (rule: AlertRule) => ({
  alert: rule.title,
  expr: `(${rule.query}) ${comparisonText(rule.condition)}`,
  labels: { ruleGroup: rule.group, severity: rule.severity },
  annotations: { summary: rule.summary },
});

const configOf = (exporterUrl: string, alertmanagerUrl: string, adminUrl: string) => {
  const targets = (url: string) => [{ targets: [new URL(url).host] }];
  return {
    global: { scrape_interval: SCRAPE, scrape_timeout: SCRAPE, evaluation_interval: "200ms" },
    alerting: { alertmanagers: [{ static_configs: targets(alertmanagerUrl) }] },
    scrape_configs: [
      { job_name: "node", static_configs: targets(exporterUrl) },
      { job_name: "opsctl-webhook", static_configs: targets(adminUrl) },
    ],
  };
};

async function get(url: string): Promise<unknown> {
  return ((await (await fetch(url)).json()) as { data: unknown }).data;
}

/** How many series the query of a rule yields, and which labels they have. */
async function seriesOf(prometheusUrl: string, { query }: AlertRule): Promise<object[]> {
  const url = `${prometheusUrl}/api/v1/query?query=${encodeURIComponent(query)}`;
  return ((await get(url)) as { result: { metric: object }[] }).result.map(({ metric }) => metric);
}

async function firing(prometheusUrl: string): Promise<string[]> {
  const { alerts } = (await get(`${prometheusUrl}/api/v1/alerts`)) as {
    alerts: { labels: { alertname: string }; state: string }[];
  };
  return alerts.flatMap(({ labels, state }) => (state === "firing" ? [labels.alertname] : []));
}

requires("monitoring").test(
  "a failed deployment reaches the phone and the tracker, and its end the phone",
  async () => {
    const programs = findMonitoring()!;
    await using host = await openCollectArena();
    await using arena = await openWebhookArena();
    writeFileSync(join(host.folder, HEARTBEAT_FILE), "");
    const collect = async () =>
      expect(await opsctl(["collect-metrics"], { env: host.env })).toMatchObject({ exitCode: 0 });
    await collect();
    const service = await arena.start();
    await using alertmanager = await startAlertmanager(programs.alertmanager, service.url, SECRET);
    await using exporter = await startNodeExporter(programs.exporter, host.folder);
    await using prometheus = await startPrometheus(
      programs.prometheus,
      configOf(exporter.url, alertmanager.url, service.adminUrl),
      { groups: [{ name: "opsctl", rules: DECIDED_HERE.map(ruleOf) }] },
    );

    await until(
      "the message and the issue",
      () => arena.gateway.accepted.length > 0 && arena.tracker.issues.length > 0,
      LIMIT_MS,
    );
    expect(arena.tracker.issues.map(({ title }) => title)).toEqual(["[ALERTA][infra] Vercel Deploy Falhado"]);
    expect(await firing(prometheus.url)).toEqual(["Vercel Deploy Falhado"]);
    // The exporter leaves file systems out that are layers of others, as the root of a container is.
    const hasRoot = (await (await fetch(`${exporter.url}/metrics`)).text()).includes('mountpoint="/"');
    for (const rule of RULES) {
      // The gateway's series are absent while its state is not known, and whether messages were acknowledged.
      if (["opsctl-gateway-disconnected", "opsctl-messages-unacknowledged"].includes(rule.uid)) continue;
      const expected = rule.uid === "opsctl-root-disk" && !hasRoot ? [] : [{}];
      const isAsExpected = async () => isDeepStrictEqual(await seriesOf(prometheus.url, rule), expected);
      await until(`${rule.uid} has ${expected.length} series`, isAsExpected, LIMIT_MS);
    }

    host.hosting.projects.splice(0, Number.POSITIVE_INFINITY, projectOf("loja", "READY"));
    await collect();
    await until("the message of its end", () => arena.gateway.accepted.length === 2, LIMIT_MS);
    expect(arena.gateway.accepted[1]!.text).toContain("Resolvido");
    expect(arena.tracker.issues).toHaveLength(1);
  },
);

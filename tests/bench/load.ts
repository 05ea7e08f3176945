/**
 * A load generator as a process of its own: so many connections post the same number of alerts for so many seconds.
 * Arguments: url, secret, connections, seconds, alerts per post, distinct fingerprints. Prints one line of JSON:
 * `posts`, `perSecond`, `quarters` (posts in each quarter of the time), `p50Ms`, `p99Ms`, `refused` (answers other than
 * 200).
 */
import process from "node:process";

const [url, secret, ...numbers] = process.argv.slice(2) as [string, string, ...string[]];
const [connections, seconds, alertsPerPost, fingerprints] = numbers.map(Number) as [
  number,
  number,
  number,
  number,
];

const headers = { "content-type": "application/json", "x-webhook-secret": secret };
const tookMs: number[] = [];
const quarters = [0, 0, 0, 0];
let refused = 0;
let sent = 0;

/** About 1.2 KB an alert, as the platform words it. */
function alertText(number: number): string {
  return JSON.stringify({
    status: "firing",
    labels: {
      alertname: `Traefik RAM Alta ${number % 20}`,
      grafana_folder: "VPS",
      instance: "main",
      job: "integrations/unix",
      ruleGroup: "vps-infra",
      severity: number % 5 === 0 ? "critical" : "warning",
    },
    annotations: {
      summary: "Proxy acima de 500 MiB",
      description: "A memória do proxy está acima do limite. ".repeat(10),
    },
    startsAt: "2026-03-02T08:15:30Z",
    endsAt: "0001-01-01T00:00:00Z",
    generatorURL: "https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1",
    fingerprint: `5c1f0e9a77b3${String(number % fingerprints).padStart(6, "0")}`,
    silenceURL: "https://example.grafana.net/alerting/silence/new?alertmanager=grafana&matcher=alertname",
    values: { B: 612368384, C: 1 },
    valueString: "[ var='B' labels={instance=main} value=6.12368384e+08 ]",
  });
}

// Made once: this time would count as time of the service.
const texts = Array.from({ length: fingerprints }, (_, number) => alertText(number));

const endMs = performance.now() + seconds * 1000;
const startMs = performance.now();
await Promise.all(
  Array.from({ length: connections }, async () => {
    while (performance.now() < endMs) {
      const alerts = Array.from({ length: alertsPerPost }, () => {
        sent += 1;
        return texts[sent % fingerprints];
      });
      const body = `{"status":"firing","version":"1","truncatedAlerts":0,"alerts":[${alerts.join(",")}]}`;
      const begunMs = performance.now();
      const response = await fetch(url, { method: "POST", headers, body });
      await response.arrayBuffer();
      tookMs.push(performance.now() - begunMs);
      quarters[Math.min(3, Math.floor((4 * (performance.now() - startMs)) / (endMs - startMs)))]! += 1;
      if (response.status !== 200) refused += 1;
    }
  }),
);
const elapsedS = (performance.now() - startMs) / 1000;
tookMs.sort((a, b) => a - b);
const at = (share: number) =>
  tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? Number.NaN;
console.log(
  JSON.stringify({
    posts: tookMs.length,
    perSecond: tookMs.length / elapsedS,
    quarters,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    refused,
  }),
);

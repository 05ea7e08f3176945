/** What bodies of 8 MiB cost the service, and how long a small alert takes meanwhile. */

import { openWebhookArena, postAlerts, type Serving, type WebhookArena } from "../e2e/support/serve.ts";
import { SECRET } from "../webhook/support/settings.ts";
import { peakBytes } from "./child.ts";
import type { Figure } from "./figure.ts";

const MIB = 1_048_576;
const BODY_BYTES = 8 * MIB;
const AT_ONCE = 3;
const ROUNDS = 4;
const BETWEEN_ALERTS_MS = 20;

/** Posts of some 8,000 new alerts each, several at once. */
export async function largeBodyFigures(): Promise<Figure[]> {
  await using arena = await openWebhookArena();
  const serving = await startServing(arena);
  const bodies = Array.from({ length: AT_ONCE * ROUNDS }, (_, number) => bodyOf(number));
  let isOver = false;
  const small = smallAlerts(serving, () => isOver);
  const begunMs = performance.now();
  for (let round = 0; round < ROUNDS; round += 1)
    await Promise.all(
      bodies.slice(round * AT_ONCE, (round + 1) * AT_ONCE).map((body) => post(serving, body)),
    );
  const tookMs = (performance.now() - begunMs) / bodies.length;
  isOver = true;
  return figuresOf({ tookMs, slowestMs: await small, bytes: peakBytes(serving.pid) });
}

function figuresOf({
  tookMs,
  slowestMs,
  bytes,
}: {
  tookMs: number;
  slowestMs: number;
  bytes: number;
}): Figure[] {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  return [
    {
      measure: `peak memory, ${AT_ONCE * ROUNDS} bodies of 8 MiB, ${AT_ONCE} at once`,
      value: `${(bytes / MIB).toFixed(0)} MiB`,
      baseline: "250 MiB",
      ratio: bytes / (250 * MIB),
      goal: { atMost: 1 },
    },
    { measure: "  time of each", value: ms(tookMs) },
    {
      measure: "  slowest small alert meanwhile, against two of them",
      value: ms(slowestMs),
      baseline: ms(2 * tookMs),
      ratio: slowestMs / (2 * tookMs),
      goal: { atMost: 1 },
    },
  ];
}

async function startServing(arena: WebhookArena): Promise<Serving> {
  return await arena.start({ args: ["--outbox-rows", "5000000", "--outbox-mib", "16384"] });
}

async function smallAlerts({ url }: Serving, isOver: () => boolean): Promise<number> {
  let slowestMs = 0;
  for (let number = 0; !isOver(); number += 1) {
    const begunMs = performance.now();
    const { status } = await postAlerts(url, { alerts: [alertOf("small", number)] });
    if (status !== 200) throw new Error(`An alert was answered with ${status}`);
    slowestMs = Math.max(slowestMs, performance.now() - begunMs);
    await Bun.sleep(BETWEEN_ALERTS_MS);
  }
  return slowestMs;
}

async function post({ url }: Serving, body: string): Promise<void> {
  const headers = { "content-type": "application/json", "x-webhook-secret": SECRET };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`A body of 8 MiB was answered with ${response.status}`);
}

/** As many alerts as fit. */
function bodyOf(number: number): string {
  const texts: string[] = [];
  for (let bytes = 14; ; ) {
    const text = JSON.stringify(alertOf(`body-${number}`, texts.length));
    bytes += text.length + 1;
    if (bytes > BODY_BYTES) return `{"alerts":[${texts.join(",")}]}`;
    texts.push(text);
  }
}

/** Some 1 KiB, as the platform words it. */
function alertOf(name: string, number: number): object {
  const labels = {
    alertname: name,
    grafana_folder: "VPS",
    instance: `host-${number}`,
    ruleGroup: "vps-infra",
  };
  return {
    status: "firing",
    labels: { ...labels, job: "integrations/unix", severity: "warning" },
    annotations: {
      summary: "Proxy acima de 500 MiB",
      description: "The proxy uses too much memory. ".repeat(14),
    },
    startsAt: "2026-03-02T08:15:30Z",
    endsAt: "0001-01-01T00:00:00Z",
    generatorURL: "https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1",
    fingerprint: `${name}-${number}`,
    silenceURL: "https://example.grafana.net/alerting/silence/new?alertmanager=grafana&matcher=alertname",
    values: { B: 612368384, C: 1 },
    valueString: "[ var='B' labels={instance=main} value=6.12368384e+08 ]",
  };
}

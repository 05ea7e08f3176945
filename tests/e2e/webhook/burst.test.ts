/** A sender without the secret that floods the service: it stays small, and an alert gets through meanwhile. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { BURSTS, type BurstKind, noBurst, sendBurst } from "../../bench/burst.ts";
import { type HeldSocket, holdSocket } from "../../platform/support/held-socket.ts";
import { until } from "../../support/until.ts";
import { logLines } from "../support/opsctl.ts";
import { openWebhookArena, postAlerts, type Serving } from "../support/serve.ts";

const MIB = 1_048_576;
/** How much memory the service may have taken at its peak. */
const MOST_BYTES = 150 * MIB;
const AT_ONCE = 32;
/** Each burst goes on until so many connections of it have been closed by the service, and alerts meanwhile. */
const CLOSED = 3 * AT_ONCE;
const BYTES_EACH = 4 * MIB;
/** So many refusals are told one by one in a minute. */
const REFUSALS_TOLD = 10;

const alert = (number: number) => ({
  alerts: [{ status: "firing", fingerprint: `f${number}`, labels: { alertname: `alerta-${number}` } }],
});

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** The largest memory that a process has had so far. */
function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;
}

async function alertsDuringBurst({ url }: Serving) {
  let isOver = false;
  const burst = noBurst();
  const port = Number(new URL(url).port);
  const to = { port, kinds: Object.keys(BURSTS) as BurstKind[], connections: AT_ONCE, bytesEach: BYTES_EACH };
  const ended = sendBurst(to, () => !isOver, burst);
  const statuses: number[] = [];
  while (burst.connections < CLOSED) statuses.push((await postAlerts(url, alert(statuses.length))).status);
  isOver = true;
  await ended;
  return { statuses, burst };
}

const PORTS: { port: string; hold: () => HeldSocket | undefined }[] = [
  { port: "its own port", hold: () => undefined },
  { port: "a socket that was handed over", hold: holdSocket },
];

test.each(PORTS)("a burst without a secret does not stop the service at $port", async ({ hold }) => {
  await using arena = await openWebhookArena();
  const held = hold();
  const args = ["--messages-per-minute", "60000"];
  const serving = await arena.start({ args, ...(held === undefined ? {} : { held }) });
  const startedMs = performance.now();
  const { statuses, burst } = await alertsDuringBurst(serving);
  expect(new Set(statuses)).toEqual(new Set([200]));
  // However much it sends, a connection gets one answer at most, and is closed.
  expect(Object.keys(burst.connectionsByAnswers).filter((answers) => Number(answers) > 1)).toEqual([]);
  expect(peakBytes(serving.pid)).toBeLessThan(MOST_BYTES);
  await until("every alert is out", () => arena.gateway.accepted.length === statuses.length);
  serving.kill("SIGTERM");
  const { exitCode, stderr } = await serving.ended;
  held?.close();
  expect(exitCode).toBe(0);
  const minutes = Math.ceil((performance.now() - startedMs) / 60_000) + 1;
  const [refusals, others] = partition(logLines(stderr), ({ msg }) => msg === "A request was refused");
  expect(refusals.length).toBeLessThanOrEqual(REFUSALS_TOLD * minutes);
  // Besides the alerts, two lines for one that waits first: how it starts and ends, and how many refusals are not told.
  expect(others.length).toBeLessThan(2 * statuses.length + 10 + minutes);
});

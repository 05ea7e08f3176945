/** What a flood without the secret costs the service, and how long an alert takes meanwhile. */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { openWebhookArena, postAlerts, type Serving } from "../e2e/support/serve.ts";
import { holdSocket } from "../platform/support/held-socket.ts";
import { BURSTS, type BurstKind } from "./burst.ts";
import { peakBytes, ROOT } from "./child.ts";
import type { Figure } from "./figure.ts";

const MIB = 1_048_576;
const CONNECTIONS = 32;
const SECONDS = 8;
/** More connections than the service keeps; each one that it closes is opened again. */
const SILENT = 2_500;
const COME_AGAIN_MS = 100;
const BETWEEN_ALERTS_MS = 250;

/** Every kind of burst, and a crowd that says nothing, against a service at a socket that was handed over. */
export async function burstFigures(): Promise<Figure[]> {
  const floods: [what: string, flood: (port: number) => Promise<unknown>][] = [
    ...(Object.keys(BURSTS) as BurstKind[]).map((kind): (typeof floods)[number] => [
      `${kind}, ${CONNECTIONS} connections, ${SECONDS} s`,
      (port) => burst(port, kind),
    ]),
    [`${SILENT} silent connections, ${SECONDS} s`, (port) => silence(port)],
  ];
  const figures: Figure[] = [];
  for (const [what, flood] of floods) figures.push(...(await measured(what, flood)));
  return figures;
}

async function measured(what: string, flood: (port: number) => Promise<unknown>): Promise<Figure[]> {
  await using arena = await openWebhookArena();
  const held = holdSocket();
  const serving = await arena.start({ held, args: ["--messages-per-minute", "60000"] });
  let isOver = false;
  const over = flood(held.port).finally(() => {
    isOver = true;
  });
  const slowestMs = await slowestAlert(serving, () => isOver);
  await over;
  const bytes = peakBytes(serving.pid);
  held.close();
  const memory = {
    value: `${(bytes / MIB).toFixed(0)} MiB`,
    baseline: "150 MiB",
    ratio: bytes / (150 * MIB),
  };
  const latency = { value: `${slowestMs.toFixed(0)} ms`, baseline: "1000 ms", ratio: slowestMs / 1_000 };
  return [
    { measure: `peak memory, ${what}`, ...memory, goal: { atMost: 1 } },
    { measure: "  slowest alert meanwhile", ...latency, goal: { atMost: 1 } },
  ];
}

async function slowestAlert({ url }: Serving, isOver: () => boolean): Promise<number> {
  let slowestMs = 0;
  for (let number = 0; !isOver(); number += 1) {
    const begunMs = performance.now();
    const labels = { alertname: `alerta-${number}` };
    const { status } = await postAlerts(url, { alerts: [{ status: "firing", labels }] });
    if (status !== 200) throw new Error(`An alert was answered with ${status}`);
    slowestMs = Math.max(slowestMs, performance.now() - begunMs);
    await Bun.sleep(BETWEEN_ALERTS_MS);
  }
  return slowestMs;
}

async function burst(port: number, kind: BurstKind): Promise<void> {
  const words = [port, kind, CONNECTIONS, SECONDS].map(String);
  const child = Bun.spawn([process.execPath, join(ROOT, "tests/bench/burst.ts"), ...words], {
    stdout: "ignore",
  });
  await child.exited;
}

async function silence(port: number): Promise<void> {
  const sockets = new Set<Socket>();
  let isOver = false;
  const come = () => {
    if (isOver) return;
    const socket = connect({ port, host: "127.0.0.1" });
    sockets.add(socket.resume().on("error", () => {}));
    socket.once("close", () => {
      sockets.delete(socket);
      setTimeout(come, COME_AGAIN_MS);
    });
  };
  for (let at = 0; at < SILENT; at += 1) come();
  await Bun.sleep(SECONDS * 1_000);
  isOver = true;
  for (const socket of sockets) socket.destroy();
}

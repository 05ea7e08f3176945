/** More silent connections than the service keeps: it goes on, and an alert gets through. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { holdSocket } from "../../platform/support/held-socket.ts";
import { until } from "../../support/until.ts";
import { logLines } from "../support/opsctl.ts";
import { openWebhookArena, postAlerts } from "../support/serve.ts";

const DESCRIPTORS = 4_096;
const KEPT = 2_000;
const SILENT = 2_500;
const AT_ONCE = 100;

type Crowd = { open: number; closed: number; leave(): void };

/** Connections that say nothing; those that the service closes do not come again. */
async function crowdAt(port: number): Promise<Crowd> {
  const sockets: Socket[] = [];
  const crowd: Crowd = {
    open: 0,
    closed: 0,
    leave: () => sockets.forEach((socket) => void socket.destroy()),
  };
  const open = () =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: "127.0.0.1" }, () => {
        crowd.open += 1;
        resolve();
      });
      sockets.push(socket.resume().on("error", () => {}));
      socket.once("close", () => {
        crowd.closed += 1;
      });
    });
  while (sockets.length < SILENT) await Promise.all(Array.from({ length: AT_ONCE }, open));
  return crowd;
}

const ways = [
  { way: "listening by itself", hold: () => undefined },
  { way: "at a socket that was handed over", hold: holdSocket },
];

test.each(ways)("opsctl webhook serve $way goes on under a crowd of silent connections", async ({ hold }) => {
  await using arena = await openWebhookArena();
  const held = hold();
  const options = held === undefined ? {} : { held };
  const serving = await arena.start({ descriptors: DESCRIPTORS, ...options });
  const crowd = await crowdAt(Number(new URL(serving.url).port));
  const alerts = { alerts: [{ status: "firing", labels: { alertname: "A" } }] };
  expect((await postAlerts(serving.url, alerts)).json).toMatchObject({ alerts: [{ whatsapp: "sent" }] });
  // The service closes those that are too many, and keeps the others.
  await until("the first ones are closed", () => crowd.closed >= SILENT - KEPT);
  expect(readdirSync(`/proc/${serving.pid}/fd`).length).toBeLessThan(KEPT + 100);
  await until("the log says it", () => serving.log().includes("too many connections"));
  crowd.leave();
  expect((await postAlerts(serving.url, alerts)).status).toBe(200);
  serving.kill("SIGTERM");
  const { exitCode, stderr } = await serving.ended;
  held?.close();
  expect(exitCode).toBe(0);
  expect(logLines(stderr).filter(({ msg }) => String(msg).includes("too many connections"))).toHaveLength(1);
});

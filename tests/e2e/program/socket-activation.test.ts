/** The listening sockets that systemd hands to the service: found by their names, and only when meant for it. */
import { describe, expect, test } from "bun:test";
import { holdSocket } from "../../platform/support/held-socket.ts";
import { openWebhookArena, postAlerts } from "../support/serve.ts";

const ALERTS = { alerts: [{ status: "firing", labels: { alertname: "DiskFull" } }] };

describe("opsctl webhook serve", () => {
  test("takes over the socket of its name, the first of several", async () => {
    await using arena = await openWebhookArena();
    const held = holdSocket();
    const service = await arena.start({ held, env: { LISTEN_FDS: "2", LISTEN_FDNAMES: "webhook:webhook" } });
    expect(await postAlerts(service.url, ALERTS)).toMatchObject({ status: 200 });
    held.close();
  });

  test("takes no socket of another name", async () => {
    await using arena = await openWebhookArena();
    const held = holdSocket();
    // It listens by itself then, where the socket is held already.
    const starting = arena.start({ held, env: { LISTEN_FDNAMES: "other" } });
    await expect(starting).rejects.toThrow("LISTEN_FAILED");
    held.close();
  });

  test("takes no socket that is meant for another process", async () => {
    await using arena = await openWebhookArena();
    // There is none: who took it would not listen.
    const env = { LISTEN_PID: "1", LISTEN_FDS: "1", LISTEN_FDNAMES: "webhook" };
    const service = await arena.start({ env });
    expect(await postAlerts(service.url, ALERTS)).toMatchObject({ status: 200 });
  });
});

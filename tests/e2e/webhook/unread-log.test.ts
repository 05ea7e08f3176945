/** A journal that hangs: what the service logs is not read. */
import { expect, test } from "bun:test";
import { freePort } from "../../support/free-port.ts";
import { unitEnvironment } from "../../support/started-environment.ts";
import { unreadPipe } from "../../support/unread-pipe.ts";
import { until } from "../../support/until.ts";
import { startOpsctl } from "../support/opsctl.ts";
import { openWebhookArena, postAlerts } from "../support/serve.ts";

/** Far more lines than a pipe holds. */
const [POSTS, ALERTS_PER_POST] = [40, 10];

const alertOf = (name: string) => ({
  status: "resolved",
  labels: { alertname: name },
  fingerprint: name.padEnd(200, "0"),
});

test("a log that is not read stops no alert, and the service still ends in time", async () => {
  await using arena = await openWebhookArena();
  const pipe = unreadPipe();
  const [port, adminPort] = [await freePort(), await freePort()];
  const place = ["--host", "127.0.0.1", "--port", `${port}`, "--admin-port", `${adminPort}`];
  const service = await startOpsctl(["webhook", "serve", ...place, "--messages-per-minute", "60000"], {
    env: { ...unitEnvironment(), ...arena.env },
    stderr: pipe.fd,
  });
  try {
    await until("it is ready", () =>
      fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    for (let at = 0; at < POSTS; at += 1) {
      const alerts = Array.from({ length: ALERTS_PER_POST }, (_, i) => alertOf(`${at}-${i}`));
      expect((await postAlerts(`http://127.0.0.1:${port}/webhook`, { alerts })).status).toBe(200);
    }
    await until("all are told", () => arena.gateway.accepted.length === POSTS * ALERTS_PER_POST);
    service.kill("SIGTERM");
    expect((await service.ended).exitCode).toBe(0);
  } finally {
    service.kill("SIGKILL");
    await service.ended;
    pipe.close();
  }
});

/** The alarm watched from outside the process: systemd's watchdog, the ping, the e-mail, the log of refusals. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listenForNotifications } from "../../platform/support/notify-listener.ts";
import { startEmailProvider } from "../../standins/email-provider.ts";
import { startPing } from "../../standins/ping.ts";
import { until } from "../../support/until.ts";
import { logLines } from "../support/opsctl.ts";
import { openWebhookArena, postAlerts } from "../support/serve.ts";

test("opsctl webhook serve notifies systemd that it is ready and alive, and pings its check while it is healthy", async () => {
  await using arena = await openWebhookArena();
  const systemd = listenForNotifications(join(arena.directory, "notify"));
  const check = await startPing();
  const service = await arena.start({
    env: {
      NOTIFY_SOCKET: join(arena.directory, "notify"),
      WATCHDOG_USEC: "600000",
      OPSCTL_PING_URL: `${check.url}/canary-uuid`,
      OPSCTL_LOG_LEVEL: "debug",
    },
  });
  const told: string[] = [];
  await until("systemd was told three times", () => {
    told.push(...systemd.take());
    return told.filter((words) => words === "WATCHDOG=1").length >= 3;
  });
  expect(told).toContain("READY=1");
  await until("the check was told", () => check.ledger.length > 0);
  expect(check.ledger[0]!.path).toBe("/canary-uuid");
  const metrics = async () => await (await fetch(`${service.adminUrl}/metrics`)).text();
  await until("the gateway's state is known", async () =>
    /^opsctl_webhook_gateway_open 1$/m.test(await metrics()),
  );
  expect(await metrics()).toMatch(/^# TYPE opsctl_webhook_pending_messages gauge$/m);
  expect(await metrics()).not.toMatch(/^opsctl_webhook_pending_messages /m);

  await fetch(service.url, { method: "POST", headers: { "x-forwarded-for": "203.0.113.9" } });
  await postAlerts(service.url, { alerts: [{ status: "firing", labels: 7 }, 8] });
  await until("both are in the log", () => service.log().includes("are no alerts"));
  const lines = logLines(service.log());
  const refusal = lines.find(({ msg }) => msg === "A request was refused");
  expect(refusal).toMatchObject({
    level: "warn",
    status: 401,
    code: "invalid_secret",
    address: "127.0.0.1",
    forwardedFor: "203.0.113.9",
  });
  service.kill("SIGTERM");
  expect((await service.ended).exitCode).toBe(0);
  expect(service.log()).not.toContain("canary-uuid");
  systemd.close();
  await check.stop();
});

test("opsctl webhook serve goes on where systemd cannot be notified, and logs it", async () => {
  await using arena = await openWebhookArena();
  const env = { NOTIFY_SOCKET: join(arena.directory, "nobody"), PATH: arena.directory };
  const service = await arena.start({ env });
  await until("it is in the log", () => service.log().includes("systemd could not be notified"));
  const lines = logLines(service.log()).filter(({ msg }) => msg === "systemd could not be notified");
  expect(lines).toMatchObject([{ level: "warn", code: "ENOENT" }]);
  expect((await postAlerts(service.url, { alerts: [] })).status).toBe(200);
  service.kill("SIGTERM");
  expect((await service.ended).exitCode).toBe(0);
});

test("opsctl webhook serve does not start with half a fallback e-mail", async () => {
  await using arena = await openWebhookArena();
  const email = await startEmailProvider({ apiKey: "canary-email-key" });
  const failure = arena.start({
    env: { ALERT_EMAIL_TO: "ops@client.example", ALERT_EMAIL_API_URL: email.url },
  });
  await expect(failure).rejects.toThrow(/ALERT_EMAIL_FROM: is missing[\s\S]*ALERT_EMAIL_API_KEY: is missing/);
  await email.stop();
});

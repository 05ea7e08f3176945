/** A real Alertmanager, as Debian packages it, sends to the compiled service. */
import { expect } from "bun:test";
import { requires } from "../../support/requires.ts";
import { until } from "../../support/until.ts";
import { SECRET } from "../../webhook/support/settings.ts";
import { findAlertmanager, startAlertmanager } from "../support/monitoring-process.ts";
import { openWebhookArena } from "../support/serve.ts";

async function tell(url: string, alert: object): Promise<void> {
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([alert]),
  });
  expect(response.status).toBe(200);
}

requires("alertmanager").test("Alertmanager's firing and resolved alerts arrive", async () => {
  await using arena = await openWebhookArena();
  const service = await arena.start();
  await using alertmanager = await startAlertmanager(findAlertmanager()!, service.url, SECRET);
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
  expect(arena.gateway.accepted[1]!.text).toContain("Resolvido");
  expect(arena.tracker.issues).toHaveLength(1);
});

/**
 * The way from nothing to an alert on the phone by opsctl's own commands: the contact point, the rules with their
 * receiver, doctor, and an alert that Grafana posts by nothing but what these commands left there.
 */
import { expect, test } from "bun:test";
import { type Monitoring, startMonitoring } from "../../standins/grafana.ts";
import { type FiredAlert, notify } from "../../standins/grafana-notification.ts";
import { until } from "../../support/until.ts";
import { SECRET } from "../../webhook/support/settings.ts";
import { opsctl } from "../support/opsctl.ts";
import { openWebhookArena } from "../support/serve.ts";

const TOKEN = "glsa_canaryMonitoringToken";
const DISK = "opsctl-root-disk";
const FIRING: FiredAlert = { status: "firing", value: 11.2, startsAt: "2026-11-22T18:10:00Z" };

let platform: Monitoring;

/** Runs `opsctl alert-rules …` against Grafana, and checks that it tells no secret. */
async function rules(args: string[], more: Record<string, string> = {}) {
  const env = {
    MONITORING_URL: platform.url,
    MONITORING_TOKEN: TOKEN,
    MONITORING_FOLDER_UID: "vps",
    MONITORING_PROMETHEUS_UID: "prom-1",
    MONITORING_LOKI_UID: "loki-1",
    MONITORING_RECEIVER: "opsctl-webhook",
    MONITORING_FALLBACK_RECEIVER: "plantão",
    OPSCTL_WEBHOOK_ENV_FILE: "/nonexistent/webhook.env",
    OPSCTL_LOG_LEVEL: "debug",
    ...more,
  };
  const ended = await opsctl(["alert-rules", ...args, "--json"], { env });
  for (const secret of [SECRET, TOKEN]) expect(ended.stdout + ended.stderr).not.toContain(secret);
  return ended;
}

async function openPlatform(): Promise<void> {
  platform = await startMonitoring({ token: TOKEN, folders: ["vps"] });
  const settings = { addresses: "sre@example.org" };
  platform.points.push({
    ...{
      uid: "mail",
      name: "plantão",
      type: "email",
      disableResolveMessage: false,
      settings,
      provenance: "",
    },
  });
}

test("an alert of a rule reaches phone and tracker, and its end the phone", async () => {
  await using arena = await openWebhookArena();
  const { url } = await arena.start();
  await openPlatform();
  const point = await rules(["contact-point", "apply", "--url", url], { WEBHOOK_SECRET: SECRET });
  expect(point.json).toMatchObject({ exitCode: 0, result: "created", secret: "written" });
  const applied = await rules(["apply", "--with-extras"]);
  expect(applied.exitCode).toBe(0);

  expect(await notify(platform, DISK, FIRING)).toEqual([{ uid: point.json.uid as string, status: 200 }]);
  await until("the message", () => arena.gateway.accepted.length === 1);
  expect(arena.gateway.accepted[0]!.text).toContain("Disco Raiz Baixo");
  await until("the issue", () => arena.tracker.issues.length === 1);
  expect(arena.tracker.issues[0]!.title).toBe("[ALERTA][infra] Disco Raiz Baixo");

  const endsAt = "2026-11-22T18:30:00Z";
  await notify(platform, DISK, { ...FIRING, status: "resolved", endsAt });
  await until("the message of its end", () => arena.gateway.accepted.length === 2);
  // The same alert within its 30 minutes makes no second issue.
  expect(arena.tracker.issues).toHaveLength(1);

  // What the webhook cannot be trusted to tell goes another way.
  expect(await notify(platform, "opsctl-webhook-stopped", FIRING)).toEqual([]);
  await platform.stop();
});

test("an alert does not arrive with another secret, and does after it was written again", async () => {
  await using arena = await openWebhookArena();
  const { url } = await arena.start();
  await openPlatform();
  const args = ["contact-point", "apply", "--url", url];
  await rules(args, { WEBHOOK_SECRET: "another-secret" });
  const unwatched = await rules(["apply", "--with-extras"], { MONITORING_FALLBACK_RECEIVER: "" });
  expect(unwatched.json).toMatchObject({
    exitCode: 0,
    warnings: [expect.stringContaining("--fallback-receiver")],
  });
  expect(await notify(platform, DISK, FIRING)).toMatchObject([{ status: 401 }]);

  const unseen = await rules(args, { WEBHOOK_SECRET: SECRET });
  expect(unseen.json).toMatchObject({ exitCode: 0, result: "unchanged", secret: "not_compared" });
  const rotated = await rules([...args, "--rotate"], { WEBHOOK_SECRET: SECRET });
  expect(rotated.json).toMatchObject({ result: "updated", changes: [], secret: "written" });
  expect(await notify(platform, DISK, FIRING)).toMatchObject([{ status: 200 }]);
  await platform.stop();
});

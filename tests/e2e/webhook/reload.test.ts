/** SIGHUP and the settings file of `opsctl webhook serve`, as a black box. */
import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OUTBOX_LIMITS } from "../../../lib/webhook/store/model.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import { openSqliteStore } from "../../../lib/webhook/store/sqlite/store.ts";
import { startEmailProvider } from "../../standins/email-provider.ts";
import { startPing } from "../../standins/ping.ts";
import { freePort } from "../../support/free-port.ts";
import { silentLog } from "../../support/silent-log.ts";
import { until } from "../../support/until.ts";
import { sampleAlert } from "../../webhook/support/sample-alert.ts";
import { SECRET } from "../../webhook/support/settings.ts";
import { acceptAll } from "../../webhook/support/state-fixture.ts";
import { logLines, opsctl } from "../support/opsctl.ts";
import { openWebhookArena, type Serving, type WebhookArena } from "../support/serve.ts";

const NEW_SECRET = "canary-webhook-secret-of-tomorrow";
const TAKEN = "Configuration reloaded";
const REFUSED = "Configuration reload failed";

/** The lines of the settings file; `changes` puts others in their place, null takes one out. */
function fileOf({ env }: WebhookArena, changes: Record<string, string | null> = {}): string {
  const settings = Object.entries({ ...env, ...changes });
  return settings.flatMap(([name, value]) => (value === null ? [] : [`${name}='${value}'\n`])).join("");
}

function putFile(arena: WebhookArena, changes?: Record<string, string | null>): string {
  const path = join(arena.directory, "webhook.env");
  writeFileSync(path, fileOf(arena, changes), { mode: 0o600 });
  return path;
}

/** Starts a service that has its settings from the file alone. */
async function startFromFile(arena: WebhookArena): Promise<Serving> {
  const fromFile = Object.fromEntries(Object.keys(arena.env).map((name) => [name, ""]));
  return await arena.start({ env: { ...fromFile, OPSCTL_ENV_DIR: arena.directory } });
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Asks for a reload and waits until the log says how it ended. */
async function reload(service: Serving, outcome: string): Promise<void> {
  const before = countOf(service.log(), outcome);
  service.kill("SIGHUP");
  await until(`the log says: ${outcome}`, () => countOf(service.log(), outcome) > before);
}

let posted = 0;

async function post({ url }: Serving, secret: string): Promise<number> {
  posted += 1;
  const labels = { alertname: `Alarme ${posted}`, ruleGroup: "vps-infra", severity: "critical" };
  const body = { alerts: [{ status: "firing", labels, annotations: {}, fingerprint: `fp-${posted}` }] };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-webhook-secret": secret, connection: "close" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

async function metric({ adminUrl }: Serving, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

// The sources, which can be given a file to load before them, take the same first steps as the binary.
test("SIGHUP that comes before the settings were read does not end the service, and is followed once it can be", async () => {
  await using arena = await openWebhookArena();
  putFile(arena);
  const before = join(import.meta.dir, "../../cli/support/hangup-at-settings.ts");
  const place = { OPSCTL_ENV_DIR: arena.directory, BUN_OPTIONS: `--preload ${before}` };
  const service = await arena.start({ runtime: "bun", env: place });
  await until("the settings were read again", () => service.log().includes(TAKEN));
  expect(await post(service, SECRET)).toBe(200);
});

describe("opsctl webhook serve", () => {
  test("takes a new secret at SIGHUP, the old one until then, and both with the previous one", async () => {
    await using arena = await openWebhookArena();
    putFile(arena);
    const service = await startFromFile(arena);
    const both = async () => [await post(service, SECRET), await post(service, NEW_SECRET)];
    expect(await both()).toEqual([200, 401]);

    putFile(arena, { WEBHOOK_SECRET: NEW_SECRET, WEBHOOK_SECRET_PREVIOUS: SECRET });
    expect(await both()).toEqual([200, 401]);
    await reload(service, TAKEN);
    expect(await metric(service, "opsctl_webhook_previous_secret_total")).toBe(0);
    expect(await both()).toEqual([200, 200]);
    expect(await metric(service, "opsctl_webhook_previous_secret_total")).toBe(1);

    putFile(arena, { WEBHOOK_SECRET: NEW_SECRET });
    await reload(service, TAKEN);
    expect(await both()).toEqual([401, 200]);
    service.kill("SIGTERM");
    const { exitCode, stderr } = await service.ended;
    expect(exitCode).toBe(0);
    for (const secret of [SECRET, NEW_SECRET]) expect(stderr).not.toContain(secret);
  });

  test("keeps every old setting when one of the new ones is wrong, and names it", async () => {
    await using arena = await openWebhookArena();
    const path = putFile(arena);
    const service = await startFromFile(arena);
    const wrong = [
      [
        { WEBHOOK_SECRET: NEW_SECRET, MESSAGING_PHONE: "canary-no-phone" },
        "MESSAGING_PHONE: is invalid; expected a phone number",
      ],
      [{ WEBHOOK_SECRET: NEW_SECRET, ISSUE_TRACKER_TOKEN: null }, "ISSUE_TRACKER_TOKEN: is missing"],
    ] as const;
    for (const [changes, problem] of wrong) {
      putFile(arena, changes);
      await reload(service, REFUSED);
      expect(service.log()).toContain(problem);
      expect([await post(service, SECRET), await post(service, NEW_SECRET)]).toEqual([200, 401]);
    }
    writeFileSync(path, `${fileOf(arena, { WEBHOOK_SECRET: NEW_SECRET })}export EXTRA=canary-no-phone\n`);
    await reload(service, REFUSED);
    expect(service.log()).toContain("is not NAME=value");
    expect(service.log()).toContain(`Set it in ${path}`);
    expect(await post(service, SECRET)).toBe(200);
    expect(service.log()).not.toContain("canary-no-phone");
  });

  test("refuses no request while it is asked to reload again and again", async () => {
    await using arena = await openWebhookArena();
    putFile(arena);
    const service = await startFromFile(arena);
    const statuses: number[] = [];
    let isOver = false;
    const senders = [1, 2, 3, 4].map(async () => {
      while (!isOver) statuses.push(await post(service, SECRET));
    });
    const secrets = [NEW_SECRET, `${NEW_SECRET}-2`];
    for (let round = 0; round < 20; round += 1) {
      putFile(arena, { WEBHOOK_SECRET: secrets[round % 2]!, WEBHOOK_SECRET_PREVIOUS: SECRET });
      for (let signal = 0; signal < 3; signal += 1) service.kill("SIGHUP");
      const sofar = statuses.length;
      await until("requests came after the signal", () => statuses.length > sofar + 4);
    }
    isOver = true;
    await Promise.all(senders);
    await until("the last reload ended", () => countOf(service.log(), TAKEN) > 0);
    expect(statuses.length).toBeGreaterThan(80);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(service.log()).not.toContain(REFUSED);
  });

  test("sends what waited because of a wrong key at once after a reload with the right one", async () => {
    await using arena = await openWebhookArena();
    putFile(arena, { MESSAGING_API_KEY: "wrong" });
    const service = await startFromFile(arena);
    await post(service, SECRET);
    await until(
      "messages are held",
      async () => (await metric(service, 'opsctl_webhook_paused{kind="whatsapp"}')) === 1,
    );
    putFile(arena);
    await reload(service, TAKEN);
    await until("the message arrived", () => arena.gateway.accepted.length === 1);
  });

  test("pings a new check at once, and no longer the one before", async () => {
    await using arena = await openWebhookArena();
    const [check, next] = [await startPing(), await startPing()];
    putFile(arena, { OPSCTL_PING_URL: `${check.url}/canary-uuid` });
    const service = await startFromFile(arena);
    await until("the check was told", () => check.ledger.length === 1);
    putFile(arena, { OPSCTL_PING_URL: `${next.url}/canary-other` });
    await reload(service, TAKEN);
    await until("the new check was told", () => next.ledger.length === 1);
    expect(next.ledger[0]!.path).toBe("/canary-other");
    expect(check.ledger).toHaveLength(1);
    expect(service.log()).not.toContain("canary-");
    await Promise.all([check.stop(), next.stop()]);
  });

  test("takes a fallback channel: what WhatsApp has not taken for minutes is e-mailed then", async () => {
    await using arena = await openWebhookArena();
    const provider = await startEmailProvider({ apiKey: "canary-email-key" });
    arena.gateway.routes.send.script = () => "drop_unread";
    const minutesAgo = Date.now() - 4 * 60_000;
    const { directory } = arena;
    const store = await openSqliteStore({ directory, nowMs: () => minutesAgo, log: silentLog });
    const state = outboxOn(store, { limits: OUTBOX_LIMITS, comments: false, log: silentLog });
    await acceptAll(state, sampleAlert({ severity: "critical" }));
    await state.close();
    putFile(arena);
    const service = await startFromFile(arena);
    const channel = {
      ALERT_EMAIL_TO: "ops@client.example",
      ALERT_EMAIL_FROM: "alarm@mail.example",
      ALERT_EMAIL_API_KEY: "canary-email-key",
      ALERT_EMAIL_API_URL: provider.url,
    };
    putFile(arena, { ...channel, ALERT_EMAIL_FROM: null });
    await reload(service, REFUSED);
    expect(service.log()).toContain("ALERT_EMAIL_FROM");
    putFile(arena, channel);
    await reload(service, TAKEN);
    await until("the alert was e-mailed", () => provider.accepted.length === 1);
    expect(provider.accepted[0]).toMatchObject({ to: ["ops@client.example"], from: "alarm@mail.example" });
    expect(service.log()).not.toContain("canary-email-key");
    await provider.stop();
  });

  test("names what changes at a restart only, and takes the rest", async () => {
    await using arena = await openWebhookArena();
    putFile(arena);
    const service = await startFromFile(arena);
    const elsewhere = join(arena.directory, "elsewhere");
    const cases: [changes: Record<string, string>, settings: string[]][] = [
      [{ OPSCTL_STATE_DIR: elsewhere }, ["OPSCTL_STATE_DIR"]],
      [{ OPSCTL_STATE_URL: "postgres://a@127.0.0.1/b" }, ["OPSCTL_STATE_URL"]],
      [
        { ISSUE_TRACKER_COMMENTS: "1", OPSCTL_LOG_LEVEL: "debug", HTTPS_PROXY: "http://proxy.example" },
        ["ISSUE_TRACKER_COMMENTS", "OPSCTL_LOG_LEVEL", "HTTPS_PROXY"],
      ],
      [{ MESSAGING_PHONE: "5511987654321", OPSCTL_LOG_LEVEL: " " }, []],
    ];
    for (const [changes, settings] of cases) {
      const before = service.log().length;
      putFile(arena, { ...changes, WEBHOOK_SECRET: NEW_SECRET });
      await reload(service, TAKEN);
      const named = logLines(service.log().slice(before)).flatMap((line) => line.settings ?? []);
      expect(named).toEqual(settings);
      expect(await post(service, NEW_SECRET)).toBe(200);
    }
    expect(arena.gateway.accepted.at(-1)!.number).toBe("5511987654321");
  });

  test("names what the environment overrules, and what has no effect", async () => {
    await using arena = await openWebhookArena();
    putFile(arena);
    const service = await arena.start({ env: { OPSCTL_ENV_DIR: arena.directory } });
    putFile(arena, { WEBHOOK_SECRET: NEW_SECRET, ISSUE_TRACKER_COMMENT: "1" });
    await reload(service, TAKEN);
    expect(service.log()).toContain("sets ISSUE_TRACKER_COMMENT, which nothing reads; did you mean");
    expect(service.log()).toContain('"variables":["WEBHOOK_SECRET"]');
    expect([await post(service, SECRET), await post(service, NEW_SECRET)]).toEqual([200, 401]);
  });

  test("reads secret files again", async () => {
    await using arena = await openWebhookArena();
    putFile(arena, { WEBHOOK_SECRET: null });
    const secretFile = join(arena.directory, "WEBHOOK_SECRET");
    writeFileSync(secretFile, SECRET, { mode: 0o600 });
    const service = await startFromFile(arena);
    expect(await post(service, SECRET)).toBe(200);
    writeFileSync(secretFile, NEW_SECRET);
    await reload(service, TAKEN);
    expect([await post(service, SECRET), await post(service, NEW_SECRET)]).toEqual([401, 200]);
  });

  test("ends in time when it is asked to reload while it stops", async () => {
    await using arena = await openWebhookArena();
    putFile(arena);
    const service = await startFromFile(arena);
    arena.gateway.latencyMs = 700;
    const answer = post(service, SECRET);
    await until("the message is on its way", () => arena.gateway.routes.send.calls.length > 0);
    service.kill("SIGTERM");
    await until("it ends", () => service.log().includes("A signal asked the service to end"));
    for (let signal = 0; signal < 5; signal += 1) service.kill("SIGHUP");
    const { exitCode, signal } = await service.ended;
    expect({ exitCode, signal }).toEqual({ exitCode: 0, signal: null });
    expect(service.log()).not.toContain(TAKEN);
    expect(await answer).toBe(200);
  });

  test("reloads after its start when it was asked to before, and once more when it is asked to meanwhile", async () => {
    await using arena = await openWebhookArena();
    const command = join(arena.directory, "secrets-command");
    const asked = join(arena.directory, "asked");
    // Asked for this secret, it sends the signal to the service, which has read its file: at the start, and once in
    // the reload that follows.
    const signals = `mkdir ${asked}-1 2>/dev/null || mkdir ${asked}-2 2>/dev/null`;
    const body = `[ "$1" = ISSUE_TRACKER_TOKEN ] && { ${signals}; } && kill -HUP $PPID\n:`;
    writeFileSync(command, `#!/bin/sh\n${body}\n`);
    chmodSync(command, 0o700);
    putFile(arena, { OPSCTL_SECRETS_COMMAND: command });
    const service = await startFromFile(arena);
    await until("it has reloaded twice", () => countOf(service.log(), TAKEN) === 2);
    expect(service.log().indexOf(TAKEN)).toBeGreaterThan(service.log().indexOf("Listening for alerts"));
    expect(await post(service, SECRET)).toBe(200);
  });

  test("a command typed by hand finds the file too, and OPSCTL_ENV_DIR without a value turns it off", async () => {
    await using arena = await openWebhookArena();
    putFile(arena, { ISSUE_TRACKER_TOKEN: null });
    const port = String(await freePort());
    const start = (env: Record<string, string>) => opsctl(["webhook", "serve", "--port", port], { env });
    const withFile = await start({ OPSCTL_ENV_DIR: arena.directory });
    expect([withFile.exitCode, withFile.stderr]).toEqual([
      3,
      expect.stringContaining("1 setting is missing"),
    ]);
    const without = await start({ OPSCTL_ENV_DIR: "", OPSCTL_SECRETS_DIR: arena.directory });
    expect([without.exitCode, without.stderr]).toEqual([
      3,
      expect.stringContaining("WEBHOOK_SECRET: is missing"),
    ]);
  });
});

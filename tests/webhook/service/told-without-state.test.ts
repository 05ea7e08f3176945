/** Critical alerts that WhatsApp does not take while the state fails, minute by minute of the service's clock. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { alertEmailSender } from "../../../lib/webhook/second-channel/email-sender.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { requires } from "../../support/requires.ts";
import { type SmallDisk, smallDisk } from "../../support/small-disk.ts";
import { until } from "../../support/until.ts";
import { alertOf, NO_WATCH, type Service, startService } from "../support/service-fixture.ts";
import { type TestClock, testClock } from "../support/test-clock.ts";

const MINUTE_MS = 60_000;
const EMAIL_KEY = "canary-email-key";
const DISK = { fingerprint: "disk", labels: { alertname: "Disco Raiz Baixo", severity: "critical" } };

let service: Service;
let email: EmailProvider;
let clock: TestClock;
let disk: SmallDisk | null = null;
afterEach(async () => {
  await service.stop();
  await email.stop();
  disk?.remove();
  disk = null;
});

async function start(directory?: string): Promise<void> {
  email = await startEmailProvider({ apiKey: EMAIL_KEY });
  clock = testClock(Date.UTC(2026, 10, 16, 14));
  const config = {
    apiUrl: email.url,
    apiKey: new Secret(EMAIL_KEY),
    from: "alarm@mail.example",
    to: "a@b.example",
  };
  const sendEmail = alertEmailSender(config, () => {});
  const place = directory === undefined ? {} : { directory };
  service = await startService({ clock, ...place, watchPeers: () => ({ ...NO_WATCH, sendEmail }) });
}

function setGateway(isWell: boolean): void {
  for (const route of Object.values(service.gateway.routes))
    route.script = isWell ? null : () => ({ status: 502, text: "Bad Gateway" });
}

const isTrue = () => true;
const isFalse = () => false;
const emailed = () => email.accepted.filter(({ text }) => text?.includes("Disco Raiz Baixo"));
const onPhone = () => service.gateway.accepted.filter(({ text }) => text.includes("Disco Raiz Baixo"));

/** Posts as a platform does that is told to come again; returns the last answer. */
async function post(): Promise<{ status: number; body: unknown }> {
  const answer = service.post({ alerts: [alertOf(DISK)] });
  await clock.advance(30_000);
  return await answer;
}

requires("mount").test(
  "one that neither a full disk nor the gateway takes goes out by e-mail within four minutes, once",
  async () => {
    disk = smallDisk(6);
    const directory = join(disk.directory, "state");
    mkdirSync(directory, { mode: 0o700 });
    await start(directory);
    disk.fill();
    await until("nothing more can be kept", () => service.state.check().then(isFalse, isTrue));
    setGateway(false);
    for (let half = 0; half < 8; half += 1) expect((await post()).status).toBe(503);
    expect(emailed()).toHaveLength(1);
    for (let half = 0; half < 6; half += 1) await post();
    expect(emailed()).toHaveLength(1);
    setGateway(true);
    await clock.advance(MINUTE_MS);
    expect(await post()).toMatchObject({ status: 200, body: { durable: false } });
    expect(onPhone()).toHaveLength(1);
    disk.empty();
    expect((await post()).body).not.toHaveProperty("durable");
    await clock.advance(5 * MINUTE_MS);
    expect(emailed()).toHaveLength(1);
  },
);

test("one that waits for the gateway when the disk begins to fail goes out by e-mail, and by WhatsApp later", async () => {
  await start();
  setGateway(false);
  expect((await post()).status).toBe(200);
  const whole = { ...service.state };
  const failing = Object.fromEntries(
    Object.entries(whole)
      .filter(([, call]) => typeof call === "function")
      .map(([name]) => [name, () => Promise.reject(new Error("EIO"))]),
  ) as unknown as State;
  Object.assign(service.state, failing, { close: whole.close });
  await clock.advance(3.5 * MINUTE_MS);
  expect(emailed()).toHaveLength(1);
  setGateway(true);
  await clock.advance(5 * MINUTE_MS);
  expect(onPhone()).toHaveLength(0);
  const { movedAside: _, ...calls } = whole;
  Object.assign(service.state, calls);
  await clock.advance(10 * MINUTE_MS);
  expect(onPhone()).toHaveLength(1);
  expect(emailed()).toHaveLength(1);
});

test("one in a state that can only be read goes out by e-mail, although no process leads", async () => {
  await start();
  setGateway(false);
  expect((await post()).status).toBe(200);
  const { lead, begin, settle, accept, check, recordEmailed, keepEmail, hold, prune } = service.state;
  const whole = { lead, begin, settle, accept, check, recordEmailed, keepEmail, hold, prune };
  const readOnly = () => Promise.reject(new Error("read-only transaction"));
  Object.assign(service.state, Object.fromEntries(Object.keys(whole).map((name) => [name, readOnly])));
  await clock.advance(4 * MINUTE_MS);
  expect(emailed()).toHaveLength(1);
  setGateway(true);
  await clock.advance(5 * MINUTE_MS);
  expect([emailed().length, onPhone().length]).toEqual([1, 0]);
  Object.assign(service.state, whole);
  await clock.advance(10 * MINUTE_MS);
  expect([emailed().length, onPhone().length]).toEqual([1, 1]);
});

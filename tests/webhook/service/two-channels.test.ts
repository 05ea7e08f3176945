/** Gateway and e-mail provider that go away and come back in each order, minute by minute of the service's clock. */
import { afterEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { askMessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { pingOf } from "../../../lib/providers/ping.ts";
import { alertEmailSender } from "../../../lib/webhook/second-channel/email-sender.ts";
import { askAboutMessage, gatewayStateOf } from "../../../lib/webhook/watch/ask-gateway.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import type { Gateway } from "../../standins/gateway.ts";
import { type PingStandIn, startPing } from "../../standins/ping.ts";
import { until } from "../../support/until.ts";
import { alertOf, KEY, type Service, startService } from "../support/service-fixture.ts";
import { type TestClock, testClock } from "../support/test-clock.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 16, 14);
const EMAIL_KEY = "canary-email-key";

let service: Service;
let email: EmailProvider;
let check: PingStandIn;
let clock: TestClock;
afterEach(async () => {
  await service.stop();
  await Promise.all([email.stop(), check.stop()]);
});

/** What a minute of a scenario is like: `away` is a proxy that has lost its gateway, `closed` one without its phone, and
 * `unclear` breaks off each send. */
type Gate = "well" | "away" | "closed" | "unclear";
type Post = "well" | "away" | "failing";

async function start(): Promise<void> {
  email = await startEmailProvider({ apiKey: EMAIL_KEY });
  check = await startPing();
  clock = testClock(START_MS);
  service = await startService({ clock, watchPeers: peersOf });
}

function peersOf(peer: Gateway) {
  const access = { baseUrl: new URL(peer.url), adminKey: new Secret(KEY) };
  const gateway = evolutionClient(access);
  const findInstance = resolveInstance({ gateway, configured: null });
  const config = {
    apiUrl: email.url,
    apiKey: new Secret(EMAIL_KEY),
    from: "alarm@mail.example",
    to: "ops@client.example",
  };
  return {
    gatewayState: gatewayStateOf({ gateway, findInstance }),
    messageStatus: askAboutMessage({ ask: askMessageStatus(access), findInstance }),
    sendEmail: alertEmailSender(config, () => {}),
    ping: pingOf(new Secret(`${check.url}/check`)),
  };
}

function setGateway(as: Gate): void {
  const { routes, instances } = service.gateway;
  instances.set("ops", as === "closed" ? "close" : "open");
  for (const route of Object.values(routes))
    route.script = as === "away" ? () => ({ status: 502, text: "Bad Gateway" }) : null;
  if (as === "unclear") routes.send.script = () => "drop_unread";
}

function setEmail(as: Post): void {
  const { send } = email.routes;
  send.script = null;
  if (as === "away") send.script = () => "drop_unread";
  if (as === "failing") send.script = () => ({ accept: { status: 500, json: {} } });
}

type Heard = { acceptedAtMs: number; heardAtMs: number | null };

/** When each critical alert was told by some channel, to the second. */
class Listening {
  readonly heard = new Map<string, Heard>();

  async post(name: string): Promise<void> {
    const labels = { alertname: name, severity: "critical" };
    // Not waited for: the answer comes once the clock has moved on.
    void service.post({ alerts: [alertOf({ fingerprint: name, labels })] });
    this.heard.set(name, { acceptedAtMs: clock.nowMs(), heardAtMs: null });
    await clock.advance(1_000);
  }

  async minutes(count: number): Promise<void> {
    for (let second = 0; second < count * 60; second += 12) {
      await clock.advance(12_000);
      const texts = [...service.gateway.accepted, ...email.accepted].map(({ text }) => text ?? "");
      for (const [name, heard] of this.heard)
        if (heard.heardAtMs === null && texts.some((text) => text.includes(name)))
          heard.heardAtMs = clock.nowMs();
    }
  }

  slowest(): number {
    return Math.max(
      ...[...this.heard.values()].map(
        ({ acceptedAtMs, heardAtMs }) => (heardAtMs ?? Infinity) - acceptedAtMs,
      ),
    );
  }
}

const toldByWhatsapp = () => service.gateway.accepted.map(({ text }) => text);

/** Until nothing waits any more. */
async function drain(listening: Listening): Promise<void> {
  for (let minute = 0; minute < 30; minute += 1) {
    if ((await service.state.stats()).message.queued === 0) return;
    await listening.minutes(1);
  }
}

const SCENARIOS: Record<string, [Gate, Post][]> = {
  "the gateway goes and comes back": [
    ["away", "well"],
    ["away", "well"],
    ["away", "well"],
    ["away", "well"],
  ],
  "the phone goes and comes back": [
    ["closed", "well"],
    ["closed", "well"],
    ["closed", "well"],
    ["closed", "well"],
  ],
  "the phone goes, then the whole gateway, then the phone is the last to come back": [
    ["closed", "well"],
    ["closed", "well"],
    ["away", "well"],
    ["away", "well"],
    ["closed", "well"],
  ],
  "the e-mail goes first and is back before the gateway": [
    ["well", "away"],
    ["away", "away"],
    ["away", "well"],
    ["away", "well"],
    ["away", "well"],
  ],
  "the e-mail answers unclearly at first": [
    ["away", "failing"],
    ["away", "failing"],
    ["away", "failing"],
    ["away", "well"],
    ["away", "well"],
  ],
};

describe("two channels", () => {
  test.each(Object.entries(SCENARIOS))(
    "%s: a critical alert is heard within four minutes, all by WhatsApp in the end",
    async (_what, minutes) => {
      await start();
      const listening = new Listening();
      for (const [at, [gate, post]] of minutes.entries()) {
        setGateway(gate);
        setEmail(post);
        await listening.post(`Alerta-${at}-x`);
        await listening.minutes(1);
      }
      // Long enough for each of them to have waited for three minutes.
      await listening.minutes(3.5);
      expect(listening.slowest()).toBeLessThanOrEqual(4 * MINUTE_MS);
      setGateway("well");
      setEmail("well");
      await drain(listening);
      for (const name of listening.heard.keys())
        expect(toldByWhatsapp().filter((text) => text.includes(name))).toHaveLength(1);
      expect((await service.state.stats()).message).toMatchObject({ queued: 0, dead: 0 });
      const emailed = email.accepted.map(({ text }) => text);
      for (const name of listening.heard.keys())
        expect(emailed.filter((text) => text?.includes(name)).length).toBeLessThanOrEqual(1);
    },
  );

  test("the gateway breaks off every send: what stays in doubt was told by e-mail", async () => {
    await start();
    const listening = new Listening();
    setGateway("unclear");
    for (let minute = 0; minute < 4; minute += 1) {
      await listening.post(`Alerta-${minute}-x`);
      await listening.minutes(1);
    }
    await listening.minutes(3.6);
    expect(listening.slowest()).toBeLessThanOrEqual(4 * MINUTE_MS);
    setGateway("well");
    await drain(listening);
    const told = new Set(
      [...listening.heard.keys()].filter((name) => toldByWhatsapp().some((text) => text.includes(name))),
    );
    const { inDoubt, queued, dead } = (await service.state.stats()).message;
    expect([queued, dead, told.size + inDoubt]).toEqual([0, 0, 4]);
    expect(inDoubt).toBeGreaterThan(0);
    for (const name of listening.heard.keys())
      if (!told.has(name)) expect(email.accepted.some(({ text }) => text?.includes(name))).toBe(true);
  });

  test("both are away for longer than ten minutes: nothing is lost, and the check elsewhere is told", async () => {
    await start();
    const listening = new Listening();
    await listening.minutes(1);
    expect(new Set(check.pings)).toEqual(new Set(["well"]));
    setGateway("closed");
    setEmail("away");
    await listening.post("Alerta-a-x");
    await listening.minutes(12);
    expect(check.pings.at(-1)).toBe("fail");
    setEmail("well");
    await listening.minutes(2);
    expect(email.accepted).toHaveLength(1);
    expect(check.pings.at(-1)).toBe("fail");
    setGateway("well");
    await drain(listening);
    await listening.minutes(1.5);
    expect(toldByWhatsapp().filter((text) => text.includes("Alerta-a-x"))).toHaveLength(1);
    expect(check.pings.at(-1)).toBe("well");
  });

  test("the gateway takes all and WhatsApp acknowledges nothing: the e-mail and the check tell, also after a restart", async () => {
    await start();
    const listening = new Listening();
    const { gateway } = service;
    const sent = (count: number) => until(`${count} messages`, () => gateway.kept.length === count);
    await listening.post("Alerta-antes-x");
    await sent(1);
    gateway.kept[0]!.statuses = ["SERVER_ACK"];
    await listening.minutes(3);
    const names = [1, 2, 3].map((at) => `Alerta-${at}-x`);
    for (const name of names) await listening.post(name);
    await sent(4);
    await listening.minutes(3.5);
    const told = () => email.accepted.map(({ text }) => text).join("\n");
    for (const name of names) expect(told()).toContain(name);
    expect(told()).not.toContain("Alerta-antes-x");
    expect(email.accepted).toHaveLength(1);
    await listening.minutes(1);
    expect(check.pings.at(-1)).toBe("fail");
    await service.restart();
    await listening.post("Alerta-4-x");
    await sent(5);
    await listening.minutes(4.5);
    expect(check.pings.at(-1)).toBe("fail");
    expect(email.accepted).toHaveLength(2);
    expect(email.accepted[1]!.text).toContain("Alerta-4-x");
    expect(email.accepted[1]!.text).not.toContain("Alerta-3-x");
    await listening.post("Alerta-5-x");
    await sent(6);
    gateway.kept.at(-1)!.statuses = ["DELIVERY_ACK"];
    await listening.minutes(4);
    expect(check.pings.at(-1)).toBe("well");
    expect(email.accepted).toHaveLength(2);
    expect(toldByWhatsapp()).toHaveLength(6);
  });

  test("the phone is away: no message is tried meanwhile, and all go within ten seconds of its return", async () => {
    await start();
    const listening = new Listening();
    setGateway("closed");
    await listening.minutes(1);
    for (let at = 0; at < 5; at += 1) await listening.post(`Alerta-${at}-x`);
    const tries = () => service.gateway.routes.send.calls.length;
    const before = tries();
    await listening.minutes(5);
    expect(tries()).toBe(before);
    setGateway("well");
    await clock.advance(10_000);
    // The clock stands still now; what has begun may still be on its way on a busy machine.
    await until("all five messages", () => service.gateway.accepted.length === 5);
    expect(service.gateway.accepted).toHaveLength(5);
  });
});

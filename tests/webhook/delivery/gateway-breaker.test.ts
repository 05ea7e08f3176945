/** A gateway that refuses us, or fails again and again: messages wait, none is dead, one finds out when it is over. */
import { describe, expect, test } from "bun:test";
import { alertOf, MINUTE_MS, onBothStores, type Service, startService } from "../support/start-service.ts";

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const OUTAGE = { status: 502, text: "Bad Gateway" };
const REFUSED = {
  status: 401,
  json: { status: 401, error: "Unauthorized", response: { message: "Unauthorized" } },
};

const resolved = (name: string) => alertOf(name, { status: "resolved" });
const PAUSED = 'opsctl_webhook_paused{kind="whatsapp"}';
const failed = (reason: string) => `opsctl_webhook_failed_total{kind="whatsapp",reason="${reason}"}`;

/** A refusal that meets every message: how it begins and ends, the code in health, the reason in the metrics. */
type Refusal = {
  name: string;
  code: string;
  reason: string;
  begin(of: Service): void;
  end(of: Service): void;
};

const meta = (code: number): Pick<Refusal, "code" | "reason" | "begin" | "end"> => ({
  code: `meta_${code}`,
  reason: "unauthorized",
  begin({ gateway }) {
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    gateway.metaError = { message: "(#1) no", type: "OAuthException", code, fbtrace_id: "A" };
  },
  end({ gateway }) {
    gateway.metaError = null;
  },
});
const phone = (state: string | null): Pick<Refusal, "code" | "reason" | "begin" | "end"> => ({
  code: "sem_instancia_gateway",
  reason: "rejected",
  begin: ({ gateway }) => void gateway.instances.set("ops", state),
  end: ({ gateway }) => void gateway.instances.set("ops", "open"),
});

const REFUSALS: Refusal[] = [
  { name: "Meta's token has expired", ...meta(190) },
  { name: "Meta has locked the account", ...meta(131031) },
  { name: "the phone is not paired", ...phone("close") },
  { name: "the instance is not loaded", ...phone(null) },
  {
    name: "the licence is missing",
    code: "gateway_license_required",
    reason: "unauthorized",
    begin({ gateway }) {
      gateway.isLicensed = false;
    },
    end({ gateway }) {
      gateway.isLicensed = true;
    },
  },
  {
    name: "the key is refused",
    code: "gateway_unauthorized",
    reason: "unauthorized",
    begin({ gateway }) {
      gateway.routes.send.script = () => REFUSED;
    },
    end({ gateway }) {
      gateway.routes.send.script = null;
    },
  },
];

describe("messages wait for days, none is dead, and each is sent once when the gateway takes us again, while", () => {
  onBothStores(REFUSALS, async ({ code, reason, begin, end }, store) => {
    await using service = await startService({ store });
    begin(service);
    for (const name of ["a", "b", "c"]) {
      const { body } = await service.post([alertOf(name)]);
      expect(body.alerts[0]).toMatchObject({ whatsapp: "queued" });
    }
    await service.advance(3 * DAY_MS, HOUR_MS);
    const { status, paused, message } = await service.health();
    expect([status, paused]).toEqual(["ok", { message: code, issue: null, comment: null }]);
    expect(message).toMatchObject({ queued: 3, dead: 0, unknown: 0 });
    expect([await service.metric(PAUSED), service.messages.length]).toEqual([1, 0]);
    expect(await service.metric(failed(reason))).toBeGreaterThan(0);
    // Issues do not wait for messages.
    expect(service.tracker.issues).toHaveLength(3);
    const logged = service.log.filter(({ msg }) => msg.startsWith("Sending paused"));
    expect(logged).toMatchObject([{ level: "error", kind: "message", code }]);

    // For days, and then a restart while the gateway is unavailable.
    service.gateway.routes.send.next(OUTAGE, OUTAGE, OUTAGE);
    await service.restart();
    expect((await service.health()).paused.message).toBe(code);
    end(service);
    await service.advance(10 * MINUTE_MS, 10_000);
    expect(service.messages.map(({ name }) => name).toSorted()).toEqual(["a", "b", "c"]);
    expect((await service.health()).paused.message).toBeNull();
    expect(await service.metric(PAUSED)).toBe(0);
  });
});

onBothStores(
  "a refusal is found out with one message each minute, and at once after a restart or a reload",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.script = () => REFUSED;
    await service.post(["a", "b", "c", "d", "e"].map(resolved));
    await service.advance(10 * MINUTE_MS);
    const tries = () => service.sends.length;
    const before = tries();
    await service.advance(10 * MINUTE_MS);
    // Half a minute to a minute apart.
    expect(tries() - before).toBeGreaterThanOrEqual(10);
    expect(tries() - before).toBeLessThanOrEqual(20);
    for (const again of [() => service.restart(), () => service.reload()]) {
      await service.advance(1_000);
      const sent = tries();
      await again();
      await service.advance(0);
      expect(tries()).toBe(sent + 1);
      expect((await service.health()).paused.message).toBe("gateway_unauthorized");
    }
    service.gateway.routes.send.script = null;
    await service.reload();
    await service.advance(0);
    expect(service.messages).toHaveLength(5);
  },
);

onBothStores(
  "after three failures in a row one message at a time finds out, ten seconds apart at the most",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.script = () => OUTAGE;
    await service.post(Array.from({ length: 8 }, (_, at) => resolved(`f${at}`)));
    const first = service.sends.filter(({ second }) => second === 0).length;
    expect(first).toBeGreaterThanOrEqual(3);
    // As many as may be on their way at once.
    expect(first).toBeLessThanOrEqual(6);
    await service.advance(10 * MINUTE_MS);
    const seconds = service.sends.slice(first).map(({ second }) => second);
    const gaps = seconds.slice(1).map((second, at) => second - seconds[at]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(11);
    expect(Math.min(...gaps.slice(-10))).toBeGreaterThanOrEqual(5);
    expect((await service.health()).paused.message).toBeNull();
    service.gateway.routes.send.script = null;
    await service.advance(31_000);
    expect(service.messages.length).toBeGreaterThanOrEqual(4);
  },
);

test("while the gateway does not name its instance, one message at a time asks for it", async () => {
  await using service = await startService();
  const { instances } = service.gateway.routes;
  instances.script = () => OUTAGE;
  await service.restart();
  await service.post(Array.from({ length: 8 }, (_, at) => resolved(`i${at}`)));
  const first = instances.calls.length;
  await service.advance(10 * MINUTE_MS);
  expect(instances.calls.length - first).toBeGreaterThanOrEqual(10);
  // Once for the message, and once to learn the state of the instance.
  expect(instances.calls.length - first).toBeLessThanOrEqual(2 * 65);
  expect([service.sends.length, await service.metric(PAUSED)]).toEqual([0, 0]);
  instances.script = null;
  await service.advance(10 * MINUTE_MS, 10_000);
  expect(service.messages).toHaveLength(8);
});

test("a critical alert is out within ten seconds of the gateway's return, however long that was unavailable", async () => {
  await using service = await startService();
  service.gateway.routes.instances.script = () => OUTAGE;
  await service.restart();
  await service.post(["a", "b"].map(resolved));
  await service.post([alertOf("worst", { status: "resolved", labels: { severity: "critical" } })]);
  await service.advance(20 * MINUTE_MS, 5_000);
  service.gateway.routes.instances.script = null;
  await service.advance(11_000, 1_000);
  expect(service.messages.map(({ name }) => name)).toContain("worst");
});

test("a failure of one message says nothing of the others: nothing pauses, however many there are", async () => {
  await using service = await startService();
  const own = { status: 413, json: { status: 413, error: "Payload Too Large" } };
  service.gateway.routes.send.scriptByBody = ({ rawBody }) => (rawBody.includes("*bad") ? own : undefined);
  await service.post(Array.from({ length: 9 }, (_, at) => resolved(`bad${at}`)));
  const { body } = await service.post([resolved("good")]);
  expect(body.alerts[0]).toMatchObject({ whatsapp: "sent" });
  expect([service.second, (await service.health()).paused.message]).toEqual([0, null]);
});

test("a failure of one message alone shows that the gateway takes us again", async () => {
  await using service = await startService();
  service.gateway.routes.send.next(REFUSED, { status: 413, json: {} });
  await service.post(["a"].map(resolved));
  expect((await service.health()).paused.message).toBe("gateway_unauthorized");
  await service.advance(1_000);
  expect((await service.health()).paused.message).toBeNull();
  expect((await service.post([resolved("b")])).body.alerts[0]).toMatchObject({ whatsapp: "sent" });
});

test("one refusal follows another: health and the log name the one that stands, each once", async () => {
  await using service = await startService();
  service.gateway.isLicensed = false;
  await service.post([resolved("a")]);
  expect((await service.health()).paused.message).toBe("gateway_license_required");
  service.gateway.isLicensed = true;
  service.gateway.instances.set("ops", "close");
  await service.advance(5 * MINUTE_MS);
  expect((await service.health()).paused.message).toBe("sem_instancia_gateway");
  const logged = service.log.filter(({ msg }) => msg.startsWith("Sending paused"));
  expect(logged.map(({ code, cause }) => [code, cause])).toEqual([
    ["gateway_license_required", undefined],
    ["sem_instancia_gateway", "instance_close"],
  ]);
});

test("a gateway that says open while its connection to WhatsApp is closed is tried again, and no result is unknown", async () => {
  await using service = await startService();
  service.gateway.isCutOff = true;
  await service.post(["a", "b"].map(resolved));
  await service.advance(20 * MINUTE_MS, 5_000);
  expect(service.sends.length).toBeGreaterThanOrEqual(10);
  const { message, paused } = await service.health();
  expect([message, paused.message]).toMatchObject([{ queued: 2, dead: 0, unknown: 0 }, null]);
  expect(service.log.filter(({ level }) => level === "warn")).toContainEqual(
    expect.objectContaining({ code: "gateway_connection_closed" }),
  );
  service.gateway.isCutOff = false;
  await service.advance(5 * MINUTE_MS, 5_000);
  expect(service.messages).toHaveLength(2);
});

test("an instance that was renamed is found under its new name", async () => {
  await using service = await startService();
  await service.post([resolved("a")]);
  service.gateway.instances.delete("ops");
  service.gateway.instances.set("alerts", "open");
  await service.post([resolved("b")]);
  await service.advance(MINUTE_MS);
  expect(service.gateway.accepted.map(({ instance }) => instance)).toEqual(["ops", "alerts"]);
});

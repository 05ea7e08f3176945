/** The gateway's connection to WhatsApp: the service asks for it, pauses messages meanwhile, and sends them afterwards. */
import { describe, expect, test } from "bun:test";
import { alertOf, MINUTE_MS, type Service, startService } from "../support/start-service.ts";
import { setGateway } from "../support/two-channels.ts";

const NOT_OPEN = "sem_instancia_gateway";

const gauge = (service: Service) => service.metric("opsctl_webhook_gateway_open");
const paused = async (service: Service) => (await service.health()).paused.message;
const questions = ({ gateway }: Service) => gateway.routes.state.calls.length;

type Case = { what: string; spoil(service: Service): unknown; open: number | null };
const is =
  (state: string | null) =>
  ({ gateway }: Service) =>
    gateway.instances.set("ops", state);
const says =
  (answer: "drop" | "not_json" | { status: number; json?: object; text?: string }) => (service: Service) => {
    service.gateway.routes.state.script = () => answer;
  };
const CASES: Case[] = [
  { what: "connected", spoil: is("open"), open: 1 },
  { what: "closed", spoil: is("close"), open: 0 },
  { what: "connecting", spoil: is("connecting"), open: 0 },
  { what: "refused", spoil: is("refused"), open: 0 },
  { what: "not loaded", spoil: is(null), open: 0 },
  { what: "gone", spoil: ({ gateway }) => gateway.instances.clear(), open: 0 },
  { what: "of a gateway that breaks off", spoil: says("drop"), open: null },
  { what: "of a gateway that answers with a page", spoil: says("not_json"), open: null },
  {
    what: "of a gateway behind a proxy that says 502",
    spoil: says({ status: 502, text: "Bad Gateway" }),
    open: null,
  },
  {
    what: "in a state that nobody knows",
    spoil: says({ status: 200, json: { instance: { instanceName: "ops", state: "asleep" } } }),
    open: null,
  },
  { what: "of a gateway with another key", spoil: (service) => service.reload({ key: "wrong" }), open: null },
  { what: "of a gateway that is gone", spoil: ({ gateway }) => gateway.stop(), open: null },
  {
    what: "of a gateway without a licence",
    spoil: ({ gateway }) => Object.assign(gateway, { isLicensed: false }),
    open: null,
  },
];

describe("an instance", () => {
  test.each(CASES)(
    "an instance $what: the metrics say $open, and only one that is not connected pauses messages",
    async (row) => {
      await using service = await startService();
      expect([await gauge(service), await paused(service)]).toEqual([1, null]);
      await row.spoil(service);
      // Once more after the minute: an instance that is gone is looked for.
      await service.advance(MINUTE_MS + 10_000);
      expect([await gauge(service), await paused(service)]).toEqual([
        row.open,
        row.open === 0 ? NOT_OPEN : null,
      ]);
    },
  );

  test("an instance that is one of two is not known", async () => {
    await using service = await startService();
    service.gateway.instances.set("second", "open");
    await service.restart();
    expect(await gauge(service)).toBeNull();
  });
});

describe("the gateway is asked", () => {
  test("every minute, and every five seconds while messages are paused", async () => {
    await using service = await startService();
    const asked: number[] = [];
    for (const trouble of ["none", "closed", "closed", "none", "none"] as const) {
      setGateway(service, trouble);
      const before = questions(service);
      await service.advance(MINUTE_MS);
      asked.push(questions(service) - before);
    }
    expect(asked).toEqual([1, 1, 12, expect.any(Number), 1]);
    expect(asked[3]).toBeLessThanOrEqual(2);
  });

  test("the gateway is asked at once after a send that fails", async () => {
    await using service = await startService();
    service.gateway.routes.send.script = () => "drop_unread";
    const before = questions(service);
    await service.post([alertOf("a")]);
    expect(questions(service) - before).toBe(1);
  });
});

describe("messages", () => {
  test("are not tried while the phone is disconnected, and all go within ten seconds of its return", async () => {
    await using service = await startService();
    setGateway(service, "closed");
    await service.advance(MINUTE_MS);
    for (const name of ["a", "b", "c", "d", "e"]) await service.post([alertOf(name)]);
    await service.advance(5 * MINUTE_MS);
    expect(service.sends).toHaveLength(0);
    setGateway(service, "none");
    await service.advance(10_000);
    expect(service.messages.map(({ name }) => name).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a pause that the watch does not renew ends after 90 seconds: one message finds out", async () => {
    await using service = await startService();
    setGateway(service, "closed");
    await service.advance(2 * MINUTE_MS);
    const renewedAt = service.second;
    setGateway(service, "none");
    service.gateway.routes.state.script = () => "hang";
    await service.post([alertOf("a")]);
    await service.advance(2 * MINUTE_MS);
    expect(service.sends.map(({ second }) => second - renewedAt)).toEqual([90]);
  });

  test("messages that a refused send has paused go when the gateway says that it is connected, and only then", async () => {
    await using service = await startService();
    setGateway(service, "closed");
    // The send's own question is answered, and no other.
    let answers = 1;
    service.gateway.routes.state.script = () =>
      answers-- > 0 ? undefined : { status: 502, text: "Bad Gateway" };
    await service.post([alertOf("a")]);
    expect(await paused(service)).toBe(NOT_OPEN);
    await service.advance(30_000);
    expect(await paused(service)).toBe(NOT_OPEN);
    setGateway(service, "none");
    await service.advance(10_000);
    expect(await paused(service)).toBeNull();
  });

  test("messages of an account that Meta refuses stay paused although the instance is connected", async () => {
    await using service = await startService();
    service.gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    service.gateway.metaError = { message: "no", type: "OAuthException", code: 190, fbtrace_id: "A" };
    await service.post([alertOf("a")]);
    await service.advance(MINUTE_MS);
    expect(await paused(service)).toBe("meta_190");
    // One is tried now and then, in ever longer pauses.
    expect(service.sends.length).toBeLessThanOrEqual(8);
  });

  test("are not tried in a loop by a gateway whose word changes with each question", async () => {
    await using service = await startService();
    let asked = 0;
    service.gateway.isCutOff = true;
    service.gateway.routes.state.script = () => {
      asked += 1;
      const state = asked % 2 === 1 ? "close" : "open";
      return { status: 200, json: { instance: { instanceName: "ops", state } } };
    };
    await service.post(Array.from({ length: 100 }, () => alertOf()));
    await service.advance(20_000);
    expect(service.sends.length).toBeLessThanOrEqual(40);
  });
});

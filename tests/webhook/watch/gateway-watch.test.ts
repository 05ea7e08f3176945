import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { gatewayStateOf } from "../../../lib/webhook/watch/ask-gateway.ts";
import { type GatewayState, GatewayWatch } from "../../../lib/webhook/watch/gateway-watch.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { endOf, givenUp } from "../../standins/given-up.ts";
import { silentLog } from "../../support/silent-log.ts";

const KEY = "canary-gateway-key";
const CODE = "sem_instancia_gateway";
const signal = new AbortController().signal;

describe("gatewayStateOf()", () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway({ adminKey: KEY });
  });
  afterEach(async () => await gateway.stop());

  const asker = (configured: string | null = null, key = KEY, timeoutMs = 60_000, limitMs = 60_000) => {
    const client = evolutionClient({
      baseUrl: new URL(gateway.url),
      adminKey: new Secret(key),
      timeoutMs,
    });
    return gatewayStateOf({
      gateway: client,
      findInstance: resolveInstance({ gateway: client, configured }),
      limitMs,
    });
  };

  test.each<[string, GatewayState]>([
    ["open", { status: "open" }],
    ["close", { status: "not_open", cause: "instance_close" }],
    ["connecting", { status: "not_open", cause: "instance_connecting" }],
    ["refused", { status: "not_open", cause: "instance_refused" }],
  ])("the instance is %s", async (state, expected) => {
    gateway.instances.set("ops", state);
    expect(await asker()(signal)).toEqual(expected);
  });

  test("an instance that is not loaded, or not there, is not open", async () => {
    gateway.instances.set("ops", null);
    expect(await asker()(signal)).toEqual({ status: "not_open", cause: "instance_not_loaded" });
    gateway.instances.clear();
    expect(await asker()(signal)).toEqual({ status: "not_open", cause: "instance_missing" });
    expect(await asker("ops")(signal)).toEqual({ status: "not_open", cause: "instance_missing" });
  });

  test("one that was renamed is found again", async () => {
    const ask = asker();
    expect(await ask(signal)).toEqual({ status: "open" });
    gateway.instances.clear();
    gateway.instances.set("new", "open");
    expect(await ask(signal)).toEqual({ status: "not_open", cause: "instance_missing" });
    expect(await ask(signal)).toEqual({ status: "open" });
  });

  test("a gateway that does not answer in time has not been called off", async () => {
    for (const route of [gateway.routes.instances, gateway.routes.state]) {
      route.next("hang");
      const state = await givenUp(gateway, (limitMs) => asker(null, KEY, 60_000, limitMs)(signal));
      expect(state).toEqual({ status: "unknown", code: "gateway_timeout" });
    }
  });

  test("what proves nothing of the instance is not known", async () => {
    expect(await asker(null, "wrong")(signal)).toEqual({ status: "unknown", code: "gateway_unauthorized" });
    gateway.instances.set("second", "open");
    expect(await asker()(signal)).toEqual({ status: "unknown", code: "gateway_instances_ambiguous" });
    for (const [fault, code] of [
      ["hang", "gateway_timeout"],
      ["drop", "gateway_connection_lost"],
      ["not_json", "gateway_answer_unreadable"],
      [
        { status: 200, json: { instance: { instanceName: "ops", state: "asleep" } } },
        "gateway_answer_unreadable",
      ],
      [{ status: 502, text: "bad gateway" }, "gateway_http_502"],
    ] as const) {
      gateway.routes.state.next(fault);
      const state = await endOf(gateway, fault, (timeoutMs) => asker("ops", KEY, timeoutMs)(signal));
      expect(state).toEqual({ status: "unknown", code });
    }
    gateway.isLicensed = false;
    expect(await asker("ops")(signal)).toEqual({ status: "unknown", code: "gateway_license_required" });
    await gateway.stop();
    expect(await asker("ops")(signal)).toEqual({ status: "unknown", code: "gateway_unreachable" });
  });
});

const OPEN: GatewayState = { status: "open" };
const CLOSED: GatewayState = { status: "not_open", cause: "instance_close" };
const UNKNOWN: GatewayState = { status: "unknown", code: "gateway_unreachable" };

/** A watch whose gateway answers as told; `channel` is what it does to the messages. */
function watchWith({ stoppedBy = null as string | null, isLeading = true } = {}) {
  const seen = { asked: 0, channel: [] as string[], stoppedBy, isLeading, nowMs: 0, answer: OPEN };
  const asking: (() => void)[] = [];
  let isSlow = false;
  const watch = new GatewayWatch({
    ask: () => async () => {
      seen.asked += 1;
      const { answer } = seen;
      if (isSlow) await new Promise<void>((resolve) => asking.push(resolve));
      return answer;
    },
    whatsapp: {
      async hold({ code, cause }) {
        seen.stoppedBy = code;
        seen.channel.push(`hold ${code} ${cause}`);
      },
      async open() {
        seen.stoppedBy = null;
        seen.channel.push("open");
      },
      stoppedBy: () => seen.stoppedBy,
    },
    isLeading: () => seen.isLeading,
    log: silentLog,
    monotonicMs: () => seen.nowMs,
  });
  const answer = async (state: GatewayState) => {
    seen.answer = state;
    await watch.look(signal);
  };
  return {
    watch,
    seen,
    answer,
    asking,
    slow() {
      isSlow = true;
    },
  };
}

describe("GatewayWatch", () => {
  test("knows nothing before the first answer, and then what the last one said", async () => {
    const { watch, answer } = watchWith();
    expect(watch.isOpen).toBeNull();
    await answer(OPEN);
    expect(watch.isOpen).toBe(true);
    await answer(CLOSED);
    expect(watch.isOpen).toBe(false);
    await answer(UNKNOWN);
    expect(watch.isOpen).toBeNull();
  });

  test("knows for how long the gateway has said so", async () => {
    const { watch, seen, answer } = watchWith();
    seen.nowMs = 1_000;
    expect(watch.forMs).toBe(1_000);
    await answer(CLOSED);
    seen.nowMs = 61_000;
    await answer(CLOSED);
    expect(watch.forMs).toBe(60_000);
    await answer(UNKNOWN);
    expect(watch.forMs).toBe(0);
  });

  test("holds the messages while the instance is not open, and lets them go with the first answer that it is", async () => {
    const { seen, answer } = watchWith();
    await answer(OPEN);
    expect(seen.channel).toEqual([]);
    await answer(CLOSED);
    await answer(CLOSED);
    expect(seen.channel).toEqual([`hold ${CODE} instance_close`, `hold ${CODE} instance_close`]);
    seen.nowMs += 60_000;
    await answer(OPEN);
    expect(seen.channel.slice(2)).toEqual(["open"]);
  });

  test("lets them go when it cannot be asked any more: a failing peer holds nothing", async () => {
    const { seen, answer } = watchWith();
    await answer(CLOSED);
    await answer(UNKNOWN);
    await answer(UNKNOWN);
    expect(seen.channel.slice(1)).toEqual(["open"]);
  });

  test("ends a hold that a send found out by the gateway's word alone", async () => {
    const { seen, answer } = watchWith({ stoppedBy: CODE });
    await answer(UNKNOWN);
    expect(seen.channel).toEqual([]);
    await answer(OPEN);
    expect(seen.channel).toEqual(["open"]);
  });

  test.each(["gateway_unauthorized", "gateway_license_required", "meta_190"])(
    "leaves a hold for %s alone",
    async (stoppedBy) => {
      const { seen, answer } = watchWith({ stoppedBy });
      await answer(OPEN);
      expect(seen.channel).toEqual([]);
    },
  );

  test("neither holds nor opens what another process delivers, and says all the same what it knows", async () => {
    const { seen, answer, watch } = watchWith({ isLeading: false });
    await answer(CLOSED);
    await answer(OPEN);
    expect(seen.channel).toEqual([]);
    expect(watch.isOpen).toBe(true);
  });

  test("is asked every minute, while messages are held every five seconds", async () => {
    const { seen, watch, answer } = watchWith();
    const minute = async () => {
      const before = seen.asked;
      for (let second = 0; second < 60; second += 1) {
        seen.nowMs += 1_000;
        await watch.lookInTime(signal);
      }
      return seen.asked - before;
    };
    await watch.lookInTime(signal);
    expect(await minute()).toBe(1);
    await answer(CLOSED);
    expect(await minute()).toBe(12);
    seen.answer = OPEN;
    expect(await minute()).toBeLessThanOrEqual(2);
    expect(await minute()).toBe(1);
  });

  test("does not let them go again and again for a gateway that says open and takes nothing", async () => {
    const { seen, answer } = watchWith();
    for (let at = 0; at < 100; at += 1) {
      seen.stoppedBy = CODE;
      await answer(OPEN);
      seen.nowMs += 100;
    }
    expect(seen.channel.length).toBe(2);
  });

  test("puts one question at a time, and once more for those who came while it was on its way", async () => {
    const { seen, watch, asking, slow } = watchWith();
    slow();
    const looks = Array.from({ length: 20 }, () => watch.look(signal));
    expect(seen.asked).toBe(1);
    const late = watch.look(signal);
    asking.shift()!();
    await Promise.race([late, new Promise((resolve) => setImmediate(resolve))]);
    expect(seen.asked).toBe(2);
    asking.shift()!();
    await Promise.all([...looks, late]);
    expect(seen.asked).toBe(2);
  });
});

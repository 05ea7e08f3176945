import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";

const KEY = "canary-gateway-key";

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY, instances: { ops: "open" } });
});

afterEach(async () => {
  await gateway.stop();
});

function resolver({ configured = null as string | null, key = KEY } = {}) {
  const client = evolutionClient({ baseUrl: new URL(gateway.url), adminKey: new Secret(key) });
  return resolveInstance({ gateway: client, configured });
}

const without = (code: string, stopsChannel = false) => ({ status: "failed" as const, code, stopsChannel });

describe("resolveInstance()", () => {
  test("takes the configured name without a call", async () => {
    expect(await resolver({ configured: "alerts" })()).toEqual({ status: "found", name: "alerts" });
    expect(gateway.ledger).toHaveLength(0);
  });

  test("asks when first needed, and only until it knows the one instance", async () => {
    const find = resolver();
    expect(gateway.ledger).toHaveLength(0);
    expect(await find()).toMatchObject({ name: "ops" });
    expect(await find()).toMatchObject({ name: "ops" });
    expect(gateway.routes.instances.calls).toHaveLength(1);
  });

  test("does not look at the instance's state: the send decides", async () => {
    gateway.instances.set("ops", "close");
    expect(await resolver()()).toMatchObject({ name: "ops" });
    expect(gateway.routes.state.calls).toHaveLength(0);
  });

  test("an instance's own key finds that instance among others", async () => {
    gateway.instances.set("other", "open");
    expect(await resolver({ key: gateway.tokenOf("other") })()).toMatchObject({ name: "other" });
  });

  test("asks again after none, several and a failure", async () => {
    const find = resolver();
    gateway.instances.clear();
    expect(await find()).toEqual(without("sem_instancia_gateway"));
    gateway.instances.set("a", "open").set("b", "open");
    expect(await find()).toEqual(without("gateway_instances_ambiguous"));
    gateway.routes.instances.next({ status: 502, text: "<html>" });
    expect(await find()).toEqual(without("gateway_http_502"));
    gateway.instances.delete("b");
    expect(await find()).toMatchObject({ name: "a" });
    expect(gateway.routes.instances.calls).toHaveLength(4);
  });

  test("a refused key stops the channel", async () => {
    expect(await resolver({ key: "wrong" })()).toEqual(without("gateway_unauthorized", true));
  });

  test("an abort ends the wait, and is not remembered", async () => {
    const find = resolver();
    const shutdown = new AbortController();
    gateway.routes.instances.script = () => {
      shutdown.abort();
      return "hang";
    };
    expect(await find(shutdown.signal)).toEqual(without("gateway_aborted"));
    gateway.routes.instances.script = null;
    expect(await find()).toMatchObject({ name: "ops" });
  });
});

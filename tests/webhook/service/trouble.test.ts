/** What delays the service for long, or comes at the wrong moment. */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { until } from "../../support/until.ts";
import { alertOf, type Service, startService } from "../support/service-fixture.ts";

let service: Service;
afterEach(async () => await service.stop());

const texts = () => service.gateway.accepted.map(({ text }) => text);

describe("a gateway", () => {
  test("that refuses the key for days and stumbles when it is mended has burnt nothing", async () => {
    service = await startService();
    const refusal = {
      status: 401,
      json: { status: 401, error: "Unauthorized", response: { message: "Unauthorized" } },
    };
    service.gateway.routes.send.script = () => refusal;
    for (let i = 0; i < 3; i += 1) await service.post({ alerts: [alertOf({ status: "resolved" })] });
    service.advance(50 * 3_600_000);
    service.gateway.routes.send.script = null;
    service.gateway.routes.send.next(
      ...Array.from({ length: 3 }, () => ({ status: 502, text: "Bad Gateway" })),
    );
    await until("all are sent", async () => {
      service.advance(1_000);
      return texts().length === 3 || (await service.state.stats()).message.dead > 0;
    });
    expect((await service.state.stats()).message.dead).toBe(0);
  });

  test("that asks for patience gets it, whatever else comes back meanwhile", async () => {
    service = await startService();
    const { send } = service.gateway.routes;
    send.next({ status: 429, json: {}, headers: { "retry-after": "3600" } });
    send.next({ status: 502, text: "Bad Gateway" });
    await service.post({ alerts: [alertOf({ status: "resolved" }), alertOf({ status: "resolved" })] });
    const { body } = await service.post({ alerts: [alertOf({ status: "resolved" })] });
    expect(body.alerts[0]!.whatsapp).toBe("queued");
    expect(send.calls).toHaveLength(2);
  });

  test("whose instance was renamed is asked for the new name", async () => {
    service = await startService();
    await service.post({ alerts: [alertOf({ status: "resolved" })] });
    service.gateway.instances.delete("ops");
    service.gateway.instances.set("alerts", "open");
    await service.post({ alerts: [alertOf({ status: "resolved" })] });
    await until("it is sent", () => {
      service.advance(1_000);
      return texts().length === 2;
    });
    expect(service.gateway.accepted[1]!.instance).toBe("alerts");
  });
});

describe("a row that no text can be made of", () => {
  test("is given up, and takes nothing else with it", async () => {
    service = await startService();
    const { send } = service.gateway.routes;
    send.next({ status: 502, text: "Bad Gateway" });
    await service.post({ alerts: [alertOf({ status: "resolved", fingerprint: "bad" })] });
    const db = new DatabaseSync(join(service.directory, "state.db"));
    db.exec(`update outbox set alert = '{"fingerprint":"bad"}', text = null where state = 'queued'`);
    db.close();
    await until("it is given up", async () => {
      service.advance(1_000);
      return (await service.state.stats()).message.dead === 1;
    });
    expect(await service.state.listDead()).toMatchObject([{ code: "alert_unreadable" }]);
    await service.post({ alerts: [alertOf({ status: "resolved" })] });
    await until("the next one is sent", () => texts().length === 1);
  });
});

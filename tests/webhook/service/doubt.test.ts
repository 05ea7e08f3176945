/** A gateway that takes a message and does not say so: how often it arrives, and what becomes of the row. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { until } from "../../support/until.ts";
import { alertOf, type Service, startService } from "../support/service-fixture.ts";

let service: Service;
afterEach(async () => await service.stop());

const copies = () => service.gateway.accepted.length;
const message = async () => (await service.state.stats()).message;

async function settled(): Promise<void> {
  await until("the message is settled", async () => {
    service.pass(5_000);
    return (await message()).queued === 0;
  });
}

const failure = (status: number, text: unknown): Scripted => ({
  accept: { status, json: { status, error: "Bad Request", response: { message: text } } },
});

/** The gateway has sent the message and never says so: only giving it up ends that. */
const SILENT: Scripted = { accept: "hang" };
const IMPATIENT = { isHasty: true, givesUp: true };

/** The gateway has sent the message, and this is what it says. */
const UNCLEAR: Record<string, Scripted> = {
  "400 after the send": failure(400, ["PrismaClientKnownRequestError: x"]),
  "500 after the send": failure(500, "Timed Out"),
  "a 504 in the gateway's own form": failure(504, ["Error: x"]),
  "a page under 200": { accept: "not_json" },
  "a success without an id": { accept: { status: 201, json: { status: "PENDING" } } },
  "Meta's own trouble": {
    accept: { status: 201, json: { message: "x", type: "OAuthException", code: 131000 } },
  },
  "nothing, and closes": { accept: "drop" },
  "half of an answer": { accept: "break_body" },
  "nothing, ever": SILENT,
};

describe("a message that the gateway takes, and answers with", () => {
  test.each(Object.entries(UNCLEAR))(
    "%s arrives once, when the gateway keeps what it sends",
    async (_what, scripted) => {
      service = await startService(scripted === SILENT ? IMPATIENT : {});
      service.gateway.routes.send.script = () => scripted;
      await service.post({ alerts: [alertOf({ status: "resolved", fingerprint: "abc" })] });
      await settled();
      expect(copies()).toBe(1);
      const { message: row } = await service.state.latest("abc");
      expect(row).toMatchObject({ status: "delivered", reference: service.gateway.accepted[0]!.id });
      expect(service.gateway.unexpected).toEqual([]);
    },
  );

  test.each(Object.entries(UNCLEAR))(
    "%s arrives three times at most, when the gateway keeps nothing",
    async (_what, scripted) => {
      service = await startService(scripted === SILENT ? IMPATIENT : {});
      service.gateway.keepsMessages = false;
      service.gateway.routes.send.script = () => scripted;
      await service.post({ alerts: [alertOf({ status: "resolved", fingerprint: "abc" })] });
      await settled();
      expect(copies()).toBe(3);
      expect(await message()).toMatchObject({ queued: 0, dead: 0, inDoubt: 1 });

      service.gateway.routes.send.script = null;
      service.pass(24 * 3_600_000);
      await service.post({ alerts: [alertOf({ status: "resolved" })] });
      expect(copies()).toBe(4);
      expect(await message()).toMatchObject({ inDoubt: 1 });
      const [row] = await service.state.listDead();
      expect(row).toMatchObject({ status: "in_doubt", code: "delivery_in_doubt", fingerprint: "abc" });
    },
  );
});

test("a gateway that says open while its connection to WhatsApp is closed leaves nothing in doubt", async () => {
  service = await startService();
  service.gateway.isCutOff = true;
  const alerts = ["abc", "def"].map((fingerprint) => alertOf({ status: "resolved", fingerprint }));
  await service.post({ alerts });
  await until("it was tried ten times", async () => {
    service.pass(40_000);
    return service.gateway.routes.send.calls.length >= 10;
  });
  expect(await message()).toMatchObject({ queued: 2, dead: 0, inDoubt: 0 });
  expect((await service.state.latest("abc")).message?.code).toBe("gateway_connection_closed");
  service.gateway.isCutOff = false;
  await settled();
  expect(copies()).toBe(2);
});

/** A proxy in front, whose time was over or whose connection broke after it had passed the message on. */
const OF_A_PROXY = [502, 503, 504] as const;

describe("a message that the gateway takes while a proxy answers in its place with", () => {
  test.each(OF_A_PROXY)("a bare %d arrives once, also over a restart", async (status) => {
    service = await startService();
    service.gateway.proxyStatus = status;
    await service.post({ alerts: [alertOf({ status: "resolved", fingerprint: "abc" })] });
    await service.restart();
    await settled();
    expect(copies()).toBe(1);
    const { message: row } = await service.state.latest("abc");
    expect(row).toMatchObject({ status: "delivered", reference: service.gateway.accepted[0]!.id });
    expect(service.gateway.routes.messages.calls).toHaveLength(1);
    expect(service.gateway.unexpected).toEqual([]);
  });

  test.each(OF_A_PROXY)(
    "a bare %d is repeated and never in doubt, when the gateway keeps nothing",
    async (status) => {
      service = await startService();
      service.gateway.keepsMessages = false;
      service.gateway.proxyStatus = status;
      await service.post({ alerts: [alertOf({ status: "resolved", fingerprint: "abc" })] });
      await until("there are five copies", async () => {
        service.pass(40_000);
        return copies() >= 5;
      });
      expect(await message()).toMatchObject({ queued: 1, dead: 0, inDoubt: 0 });
      // One question before each repetition.
      const asked = service.gateway.routes.messages.calls.length;
      expect(asked).toBeGreaterThanOrEqual(copies() - 1);
      expect(asked).toBeLessThanOrEqual(copies());
      service.gateway.proxyStatus = null;
      await settled();
      expect((await service.state.latest("abc")).message?.status).toBe("delivered");
    },
  );
});

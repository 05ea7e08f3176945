/** A gateway that refuses the sending account, its licence or its phone: alerts wait, and none is given up. */
import { afterEach, describe, expect, test } from "bun:test";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import { alertOf, type Service, startService } from "../support/service-fixture.ts";

let service: Service;
afterEach(async () => await service.stop());

const message = () => alertOf({ status: "resolved" });
const sends = () => service.gateway.routes.send.calls.length;
/** How often the service was refused: without a licence it does not get as far as a send. */
const tries = () =>
  service.gateway.ledger.filter(({ method, status }) => method === "POST" || status === 503).length;
const stats = async () => (await service.state.stats()).message;

const metaError = (code: unknown) => ({ message: "(#1) no", type: "OAuthException", code, fbtrace_id: "A" });

function refuseByMeta(code: unknown): void {
  service.gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
  service.gateway.metaError = metaError(code);
}

async function admin(path: string): Promise<string> {
  return await (await fetch(`${service.adminUrl}${path}`)).text();
}

async function holdShown() {
  const { status, holds } = JSON.parse(await admin("/healthz"));
  const held = /^opsctl_webhook_held\{kind="whatsapp"\} (\d)$/m.exec(await admin("/metrics"))?.[1];
  return { status, holds, held };
}

type Trouble = { code: string; reason: string; spoil(): void; mend(): void };
const META = (code: number): Trouble => ({
  code: `meta_${code}`,
  reason: "unauthorized",
  spoil: () => refuseByMeta(code),
  mend: () => {
    service.gateway.metaError = null;
  },
});
const STATE = (state: string | null): Trouble => ({
  code: "sem_instancia_gateway",
  reason: "rejected",
  spoil: () => void service.gateway.instances.set("ops", state),
  mend: () => void service.gateway.instances.set("ops", "open"),
});

/** Refusals that meet every message: what breaks, the code in health, and the reason in the metrics. */
const HOLDING: Record<string, Trouble> = {
  "Meta's token has expired": META(190),
  "Meta has locked the account": META(131031),
  "the phone is not paired": STATE("close"),
  "the instance is not loaded": STATE(null),
  "the licence is missing": {
    code: "gateway_license_required",
    reason: "unauthorized",
    spoil: () => {
      service.gateway.isLicensed = false;
    },
    mend: () => {
      service.gateway.isLicensed = true;
    },
  },
};

describe("a gateway behind which", () => {
  test.each(Object.entries(HOLDING))(
    "%s holds the queue for days, says so, burns nothing, and sends each once when it is mended",
    async (_what, { code, reason, spoil, mend }) => {
      service = await startService({ adminPort: await freePort() });
      spoil();
      for (let i = 0; i < 3; i += 1) {
        const { body } = await service.post({ alerts: [alertOf()] });
        expect(body.alerts[0]).toMatchObject({ whatsapp: "queued" });
      }
      await until("it was tried for days", async () => {
        service.pass(24 * 3_600_000);
        return tries() >= 5;
      });
      expect(await stats()).toMatchObject({ queued: 3, dead: 0 });
      expect(service.gateway.accepted).toHaveLength(0);
      // Issues do not wait for messages.
      expect(service.tracker.issues).toHaveLength(3);
      expect(await holdShown()).toEqual({
        status: "ok",
        holds: { message: code, issue: null, comment: null },
        held: "1",
      });
      const failed = new RegExp(
        `^opsctl_webhook_failed_total\\{kind="whatsapp",reason="${reason}"\\} [1-9]`,
        "m",
      );
      expect(await admin("/metrics")).toMatch(failed);

      mend();
      await until("all are sent", () => service.gateway.accepted.length === 3);
      await until("none waits", async () => (await stats()).queued === 0);
      expect(service.gateway.accepted).toHaveLength(3);
      expect(await holdShown()).toMatchObject({
        holds: { message: null, issue: null, comment: null },
        held: "0",
      });
    },
  );

  test("for days, then a restart before the gateway is back: nothing that waited is burnt", async () => {
    service = await startService();
    service.gateway.instances.set("ops", "close");
    for (let i = 0; i < 3; i += 1) await service.post({ alerts: [message()] });
    await until("it is held", () => sends() >= 2);
    service.advance(3 * 24 * 3_600_000);
    const { script } = service.gateway.routes.send;
    service.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
    const triedBefore = sends();
    await service.restart();
    await until("each was tried again and again, or given up", async () => {
      service.advance(1_000);
      return sends() >= triedBefore + 6 || (await stats()).dead > 0;
    });
    expect(await stats()).toMatchObject({ queued: 3, dead: 0 });

    service.gateway.routes.send.script = script;
    service.gateway.instances.set("ops", "open");
    await until("all are sent", () => {
      service.advance(1_000);
      return service.gateway.accepted.length === 3;
    });
  });

  test("Meta asks for patience: everything waits that long, and nothing is held or burnt", async () => {
    service = await startService({ adminPort: await freePort() });
    service.gateway.routes.send.next({ status: 201, json: metaError(131048) });
    await service.post({ alerts: [message()] });
    const { body } = await service.post({ alerts: [message()] });
    expect(body.alerts[0]).toMatchObject({ whatsapp: "queued" });
    expect(sends()).toBe(1);
    expect(await holdShown()).toMatchObject({ holds: { message: null }, held: "0" });
    expect(await admin("/metrics")).toMatch(
      /^opsctl_webhook_failed_total\{kind="whatsapp",reason="throttled"\} 1$/m,
    );
    const [refused, next] = await gapAfterThrottle();
    // Half a minute of the service's own clock.
    expect((next - refused) * 20).toBeGreaterThanOrEqual(30_000);
  });

  test("Meta refuses one number: that message is tried again later, the others go out at once", async () => {
    service = await startService({ adminPort: await freePort() });
    service.gateway.routes.send.next({ status: 201, json: metaError(131026) });
    await service.post({ alerts: [message()] });
    await service.post({ alerts: [alertOf({ status: "resolved", labels: { alertname: "another" } })] });
    await until("the other is sent", () => service.gateway.accepted.length === 1);
    expect(service.gateway.accepted[0]!.text).toContain("another");
    expect(await holdShown()).toMatchObject({ holds: { message: null } });
    await until("the first is sent, too", () => {
      service.advance(1_000);
      return service.gateway.accepted.length === 2;
    });
  });

  test.each([131000, 987_654])("Meta's %i proves nothing: what was not sent is sent", async (code) => {
    service = await startService({ adminPort: await freePort() });
    service.gateway.routes.send.next({ status: 201, json: metaError(code) });
    await service.post({ alerts: [message()] });
    expect(await holdShown()).toMatchObject({ holds: { message: null } });
    await until("it is sent", () => {
      service.advance(1_000);
      return service.gateway.accepted.length === 1;
    });
    expect(sends()).toBe(2);
    expect(await admin("/metrics")).toMatch(/reason="ambiguous"\} 1$/m);
  });

  test("a send fails and the phone is connected: nothing is held, and the question is put once an answer", async () => {
    service = await startService({ adminPort: await freePort() });
    const failure = { status: 400, json: { response: { message: ["Error: Connection Closed"] } } };
    service.gateway.routes.send.next(failure, failure);
    await service.post({ alerts: [message()] });
    expect(await holdShown()).toMatchObject({ holds: { message: null } });
    await until("it is sent", () => {
      service.advance(1_000);
      return service.gateway.accepted.length === 1;
    });
    expect(service.gateway.routes.state.calls).toHaveLength(2);
  });

  test("one refusal follows another: health names the one that stands", async () => {
    service = await startService({ adminPort: await freePort() });
    service.gateway.isLicensed = false;
    await service.post({ alerts: [message()] });
    expect(await holdShown()).toMatchObject({ holds: { message: "gateway_license_required" } });
    service.gateway.isLicensed = true;
    service.gateway.instances.set("ops", "close");
    await until("the phone is named", async () => {
      const { holds } = await holdShown();
      return holds.message === "sem_instancia_gateway";
    });
  });
});

/** When the first two sends came, by the stand-in's clock, in milliseconds. */
async function gapAfterThrottle(): Promise<[number, number]> {
  await until("the next send", () => {
    service.advance(1_000);
    return sends() >= 2;
  });
  const [first, second] = service.gateway.routes.send.calls.map(({ atMs }) => atMs);
  return [first!, second!];
}

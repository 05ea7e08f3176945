import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import type { DeliveryCounts, Failure } from "../../../lib/weekly/context/summary.ts";
import { renderSummary } from "../../../lib/weekly/texts/summary-text.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import type { Scripted } from "../../standins/standin.ts";
import { after } from "../../standins/statement-proxy.ts";
import { CANARIES } from "../../support/canaries.ts";
import { seedOwner } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { SETTLE } from "../support/steps.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

const OWNERS = 6;
const none: DeliveryCounts = { sent: 0, reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 };

const shared = sharedWeekly();

async function sixOwners(): Promise<WeeklyFixture> {
  const weekly = shared();
  for (let i = 0; i < OWNERS; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  plantHeartbeat(weekly);
  return weekly;
}

const unauthorized = {
  status: 401,
  json: { status: 401, error: "Unauthorized", response: { message: "Unauthorized" } },
};
const unlicensed = { status: 503, json: { error: "service not activated", code: "LICENSE_REQUIRED" } };
const refusedByMeta = (code: number) => ({
  status: 201,
  json: { message: "Session has expired", type: "OAuthException", code, fbtrace_id: "A" },
});

describe("runWeekly() with a gateway that refuses the whole channel", () => {
  test.each<[string, Scripted]>([
    ["gateway_unauthorized", unauthorized],
    ["gateway_license_required", unlicensed],
    // tests/cases/gateway-answers.ts has every code that stops the channel.
    ["meta_190", refusedByMeta(190)],
  ])(
    "%s on a send: no further one, the rest is skipped, e-mail goes on, the next run sends",
    async (code, answer) => {
      const weekly = await sixOwners();
      const { gateway } = weekly;
      gateway.routes.send.script = () => (gateway.routes.send.calls.length === 1 ? undefined : answer);

      const summary = await weekly.run({ concurrency: 1 });

      expect(summary).toMatchObject({ status: "failed", exitCode: 1, heartbeat: "kept", error: null });
      expect(summary.email).toEqual({ ...none, sent: OWNERS });
      expect(gateway.routes.send.calls).toHaveLength(2);
      expect(summary.whatsapp).toEqual({ ...none, sent: 1, failed: 1, skipped: OWNERS - 2 });
      expect(summary.failures.map((failure) => `${failure.step} ${failure.code}`)).toEqual(
        Array(OWNERS - 1).fill(`whatsapp ${code}`),
      );
      expect(isHeartbeatKept(weekly)).toBe(true);

      gateway.routes.send.script = null;
      const next = await weekly.run();
      expect(next).toMatchObject({ status: "success", heartbeat: "written", email: { reused: OWNERS } });
      expect(next.whatsapp).toEqual({ ...none, sent: OWNERS - 1, reused: 1 });
      expect(gateway.accepted).toHaveLength(OWNERS);
    },
  );

  test("a delivery that was unknown before the channel stopped still counts as unknown", async () => {
    const weekly = await sixOwners();
    const { send } = weekly.gateway.routes;
    send.script = () => (send.calls.length === OWNERS ? { accept: "drop" } : { status: 413 });
    expect((await weekly.run({ concurrency: 1 })).whatsapp).toEqual({
      ...none,
      failed: OWNERS - 1,
      unknown: 1,
    });

    send.script = () => unauthorized;
    const summary = await weekly.run({ concurrency: 1 });

    expect(summary.whatsapp).toEqual({ ...none, failed: 1, unknown: 1, skipped: OWNERS - 2 });
    expect(summary.failures.map(({ code }) => code)).toContain("delivery_unknown");
    expect(send.calls).toHaveLength(OWNERS + 1);
  });

  test("a wrong key is met by the first look at the instance: one look, nothing sent, nothing tried again", async () => {
    const weekly = await sixOwners();
    const wrong = evolutionClient({
      baseUrl: new URL(weekly.gateway.url),
      adminKey: new Secret("canary-not-the-key"),
    });

    const summary = await weekly.run({ concurrency: 1 }, { gateway: wrong });

    expect(weekly.gateway.routes.state.calls).toHaveLength(1);
    expect(weekly.gateway.routes.send.calls).toHaveLength(0);
    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept" });
    expect(summary.whatsapp).toEqual({ ...none, failed: 1, skipped: OWNERS - 1 });
    expect(await deliveryStates(weekly)).toEqual([
      "email sent x6",
      "whatsapp failed gateway_unauthorized x1",
    ]);
    expect((await weekly.run()).whatsapp).toEqual({ ...none, sent: OWNERS });
  });

  test("messages that were not handed over before a refusal are not sent after it", async () => {
    const weekly = await sixOwners();
    const { gateway } = weekly;
    // All six have claimed and looked; the first refusal comes before the others reach the send.
    let looking = 0;
    const allLook = Promise.withResolvers<void>();
    gateway.routes.send.script = () => unauthorized;
    const real = evolutionClient({
      baseUrl: new URL(gateway.url),
      adminKey: new Secret(CANARIES.GATEWAY_ADMIN_KEY),
    });
    const first = Promise.withResolvers<void>();
    const summary = await weekly.run(
      { concurrency: OWNERS },
      {
        gateway: {
          async checkInstance(name, signal) {
            const turn = looking++;
            if (looking === OWNERS) allLook.resolve();
            await allLook.promise;
            if (turn > 0) await first.promise;
            return await real.checkInstance(name, signal);
          },
          sendText: (message, signal) => real.sendText(message, signal),
        },
        // The first delivery that is recorded is the refused one.
        at: [after(SETTLE, first.resolve, { of: "gateway_unauthorized" })],
      },
    );
    expect(gateway.routes.send.calls).toHaveLength(1);
    expect(summary.whatsapp).toEqual({ ...none, failed: OWNERS });
    expect(summary.email.sent).toBe(OWNERS);
  });
});

describe("runWeekly() with a phone that is lost between the look at it and the send", () => {
  const lost = "whatsapp sem_instancia_gateway";
  const codesOf = (failures: readonly Failure[]) =>
    failures.map(({ step, code, cause }) => [`${step} ${code}`, cause]);

  test("refused by WhatsApp: one unknown result, the rest skipped, the next run sends it", async () => {
    const cause = "instance_refused";
    const weekly = await sixOwners();
    const { gateway } = weekly;
    const { send } = gateway.routes;
    send.script = () => {
      if (send.calls.length === 2) gateway.instances.set("ops", "refused");
      return undefined;
    };

    const summary = await weekly.run({ concurrency: 1 });

    expect(send.calls).toHaveLength(2);
    expect(summary).toMatchObject({ status: "failed", exitCode: 1, heartbeat: "kept", error: null });
    expect(summary.whatsapp).toEqual({ ...none, sent: 1, unknown: 1, skipped: OWNERS - 2 });
    expect(summary.email).toEqual({ ...none, sent: OWNERS });
    expect(codesOf(summary.failures)).toEqual([
      [lost, cause],
      ["whatsapp gateway_http_500", undefined],
      ...Array.from({ length: OWNERS - 2 }, () => [lost, cause]),
    ]);
    expect(await deliveryStates(weekly)).toEqual([
      "email sent x6",
      "whatsapp sent x1",
      "whatsapp unknown gateway_http_500 x1",
    ]);

    gateway.instances.set("ops", "open");
    const next = await weekly.run();
    expect(next.whatsapp).toEqual({ ...none, sent: OWNERS - 2, reused: 1, unknown: 1 });
    expect(gateway.accepted).toHaveLength(OWNERS - 1);
  });

  test.each([
    ["close", "instance_close"],
    ["connecting", "instance_connecting"],
    [null, "instance_not_loaded"],
  ])("%p: one unknown result, named, and the others go on when it is back", async (named, cause) => {
    const weekly = await sixOwners();
    const { gateway } = weekly;
    const { send, state } = gateway.routes;
    send.script = () => {
      if (send.calls.length === 2) gateway.instances.set("ops", named);
      return undefined;
    };
    // The fourth question is the third owner's, for whom it is too early; the fifth is the fourth's.
    state.script = () => {
      if (state.calls.length === 5) gateway.instances.set("ops", "open");
      return undefined;
    };

    const summary = await weekly.run({ concurrency: 1 });

    expect(summary).toMatchObject({ status: "failed", exitCode: 1, heartbeat: "kept" });
    expect(summary.whatsapp).toEqual({ ...none, sent: OWNERS - 2, unknown: 1, failed: 1 });
    expect(codesOf(summary.failures)).toEqual([
      [lost, cause],
      ["whatsapp gateway_http_500", undefined],
      [lost, cause],
    ]);
    expect((await weekly.run()).whatsapp).toEqual({ ...none, sent: 1, reused: OWNERS - 2, unknown: 1 });
    expect(gateway.accepted).toHaveLength(OWNERS - 1);
  });

  test("no message that was not handed over to the gateway has an unknown result", async () => {
    const weekly = await sixOwners();
    const { gateway } = weekly;
    gateway.routes.send.script = () => {
      gateway.instances.set("ops", "close");
      return undefined;
    };
    const { whatsapp } = await weekly.run({ concurrency: OWNERS });
    const handedOver = gateway.routes.send.calls.length;
    expect(whatsapp).toMatchObject({ sent: 0, unknown: handedOver });
    expect(whatsapp.failed + whatsapp.skipped).toBe(OWNERS - handedOver);
    expect(gateway.accepted).toHaveLength(0);
  });

  test.each<[string, Scripted]>([
    ["open", { status: 200, json: { instance: { instanceName: "ops", state: "open" } } }],
    ["a page", "not_json"],
    ["a 500", { status: 500, json: {} }],
    ["half an answer", "break_body"],
  ])("the question answered by %s stops nothing", async (_name, answer) => {
    const weekly = await sixOwners();
    const { send, state } = weekly.gateway.routes;
    send.next({ status: 400, json: { response: { message: ["Error: Connection Closed"] } } });
    // Before each send the instance is looked at, too: the second question is the one that follows the first send.
    state.script = () => (state.calls.length === 2 ? answer : undefined);
    const summary = await weekly.run({ concurrency: 1 });
    expect(summary.whatsapp).toEqual({ ...none, sent: OWNERS - 1, unknown: 1 });
    expect(codesOf(summary.failures)).toEqual([["whatsapp gateway_http_400", undefined]]);
    expect(state.calls).toHaveLength(OWNERS + 1);
  });

  test("an unavailable gateway is reported as such, without advice to pair a phone", async () => {
    const weekly = await sixOwners();
    const nowhere = new URL(`http://127.0.0.1:${await refusedPort()}`);
    const gateway = evolutionClient({ baseUrl: nowhere, adminKey: new Secret(CANARIES.GATEWAY_ADMIN_KEY) });
    const summary = await weekly.run({ concurrency: 1 }, { gateway });
    expect(summary.whatsapp).toEqual({ ...none, failed: OWNERS });
    expect(codesOf(summary.failures)).toEqual(Array(OWNERS).fill([lost, "gateway_unreachable"]));
    const text = renderSummary(summary, NO_TERMINAL);
    expect(text).toContain(
      "whatsapp: sem_instancia_gateway, gateway_unreachable (6)\n    -> no connection to the",
    );
    expect(text).not.toMatch(/pair|phone/i);
  });
});

describe("runWeekly() with an e-mail provider that refuses the whole channel", () => {
  const refusal = (statusCode: number, name: string, message = "no") => ({
    status: statusCode,
    json: { statusCode, name, message },
  });
  test.each<[string, string, Scripted]>([
    ["403 invalid_api_key", "email_api_key_invalid", refusal(403, "invalid_api_key")],
    // tests/cases/email-answers.ts has every code that stops the channel.
    ["the day's quota", "daily_quota_exceeded", refusal(429, "daily_quota_exceeded")],
  ])(
    "%s: one call, the rest skipped with %s, WhatsApp goes on, the next run sends",
    async (_name, code, answer) => {
      const weekly = await sixOwners();
      weekly.email.routes.send.script = () => answer;

      const summary = await weekly.run({ concurrency: 1 });

      expect(weekly.email.routes.send.calls).toHaveLength(1);
      expect(summary).toMatchObject({ status: "failed", exitCode: 1, heartbeat: "kept" });
      expect(summary.email).toEqual({ ...none, failed: 1, skipped: OWNERS - 1 });
      expect(summary.whatsapp).toEqual({ ...none, sent: OWNERS });
      expect(summary.failures.map((failure) => failure.code)).toEqual(Array(OWNERS).fill(code));
      expect(await deliveryStates(weekly)).toEqual([`email failed ${code} x1`, "whatsapp sent x6"]);
      expect(isHeartbeatKept(weekly)).toBe(true);

      weekly.email.routes.send.script = null;
      expect(await weekly.run()).toMatchObject({ status: "success", email: { ...none, sent: OWNERS } });
    },
  );
});

describe("runWeekly() with a quota that ends in the middle", () => {
  test("what the quota allows is sent, the rest waits for the next run", async () => {
    await using weekly = await weeklyFixture({ email: { dailyQuota: 3 } });
    for (let i = 0; i < OWNERS; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
    const summary = await weekly.run({ concurrency: 1 });
    expect(summary.email).toEqual({ ...none, sent: 3, failed: 1, skipped: 2 });
    expect(weekly.email.routes.send.calls).toHaveLength(4);
    expect(summary.exitCode).toBe(1);
  });
});

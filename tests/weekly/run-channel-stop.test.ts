import { describe, expect, test } from "bun:test";
import { Secret } from "../../lib/platform/secret.ts";
import { evolutionClient } from "../../lib/providers/evolution.ts";
import type { DeliveryCounts } from "../../lib/weekly/summary.ts";
import { seedOwner } from "../seed.ts";
import type { Scripted } from "../standins/standin.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat } from "./ledger.ts";
import { sharedWeekly } from "./shared-weekly.ts";
import { SECRETS, type WeeklyFixture, weeklyFixture } from "./weekly-fixture.ts";

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

describe("runWeekly() with a gateway that refuses the whole channel", () => {
  test.each<[string, Scripted]>([
    ["gateway_unauthorized", unauthorized],
    ["gateway_license_required", unlicensed],
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

  test("after it stopped, a delivery that was unknown before still counts as unknown", async () => {
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

  test("with many on their way, those that have not been handed over stay here", async () => {
    const weekly = await sixOwners();
    const { gateway } = weekly;
    // All six have claimed and looked; the first refusal comes before the others reach the send.
    let looking = 0;
    const allLook = Promise.withResolvers<void>();
    gateway.routes.send.script = () => unauthorized;
    const real = evolutionClient({
      baseUrl: new URL(gateway.url),
      adminKey: new Secret(SECRETS.GATEWAY_ADMIN_KEY),
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
        wrapStore: (store) => ({
          async settleDelivery(delivery, result) {
            const settled = await store.settleDelivery(delivery, result);
            if (result.errorCode === "gateway_unauthorized") first.resolve();
            return settled;
          },
        }),
      },
    );
    expect(gateway.routes.send.calls).toHaveLength(1);
    expect(summary.whatsapp).toEqual({ ...none, failed: OWNERS });
    expect(summary.email.sent).toBe(OWNERS);
  });
});

describe("runWeekly() with an e-mail provider that refuses the whole channel", () => {
  const refusal = (statusCode: number, name: string, message = "no") => ({
    status: statusCode,
    json: { statusCode, name, message },
  });
  test.each<[string, string, Scripted]>([
    ["403 invalid_api_key", "email_api_key_invalid", refusal(403, "invalid_api_key")],
    ["403 suspended_api_key", "suspended_api_key", refusal(403, "suspended_api_key")],
    ["403 invalid_permission", "invalid_permission", refusal(403, "invalid_permission")],
    ["400 as a revoked key", "email_api_key_invalid", refusal(400, "validation_error", "API key is invalid")],
    [
      "401 with the same words",
      "email_api_key_invalid",
      refusal(401, "validation_error", "API key is invalid"),
    ],
    ["the day's quota", "daily_quota_exceeded", refusal(429, "daily_quota_exceeded")],
    ["the month's quota", "monthly_quota_exceeded", refusal(429, "monthly_quota_exceeded")],
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

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpsError } from "../../lib/platform/errors.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../lib/providers/evolution/client.ts";
import { resolveInstance } from "../../lib/providers/evolution/instance.ts";
import { monitorSockets, type SocketMonitorDependencies } from "../../lib/sockets/run.ts";
import { openSqliteDedup } from "../../lib/webhook/store/sqlite/store.ts";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { refusedPort } from "../standins/raw-peer.ts";
import { silentLog } from "../support/silent-log.ts";

const KEY = "canary-gateway-key-0123456789";
const PHONE = "5511987654321";
const START_MS = Date.parse("2026-11-16T12:00:00Z");
const MINUTE_MS = 60_000;

let folder: string;
/** The lines of the log. */
let lines: object[];
let gateway: Gateway;
let nowMs: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-monitor-"));
  gateway = await startGateway({ adminKey: KEY });
  nowMs = START_MS;
  lines = [];
});
afterEach(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

function dependenciesOf(parts: Partial<SocketMonitorDependencies> = {}): SocketMonitorDependencies {
  const client = evolutionClient({
    baseUrl: new URL(gateway.url),
    adminKey: new Secret(KEY),
    timeoutMs: 60_000,
  });
  return {
    countSockets: async () => ({ total: 10_001, closeWait: 7 }),
    readLoadAverage: async () => ({ load1: 99, load5: 88, load15: 77 }),
    readProxyMemory: async () => 9e12,
    openDedup: () => openSqliteDedup({ directory: folder, nowMs: () => nowMs, log: silentLog }),
    messenger: {
      gateway: client,
      findInstance: resolveInstance({ gateway: client, configured: null }),
      phone: PHONE,
      limitMs: 60_000,
    },
    appendReadings: async (readings) => void lines.push(readings),
    host: "vps-master",
    nowMs: () => nowMs,
    ...parts,
  };
}

const refuseByMeta = (code: number) => {
  gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
  gateway.metaError = { message: "no", type: "OAuthException", code };
};
const run = (parts: Partial<SocketMonitorDependencies> = {}) => monitorSockets(dependenciesOf(parts), 10_000);
const at = (total: number) => ({ countSockets: async () => ({ total, closeWait: 5_000 }) });
describe("monitorSockets()", () => {
  test("alerts above the threshold, with the total, and alerts on nothing else", async () => {
    expect(await run(at(10_000))).toMatchObject({ alert: "not_needed", problems: [] });
    expect(gateway.ledger).toEqual([]);
    expect(await run(at(10_001))).toMatchObject({ alert: "sent", problems: [] });
    expect(gateway.accepted).toMatchObject([{ instance: "ops", number: PHONE }]);
    expect(gateway.accepted[0]?.text).toContain("Total: 10001 (limite: 10000)");
    expect(gateway.accepted[0]?.text).toContain("vps-master");
  });

  test("repeats at most once in 30 minutes while it stays above", async () => {
    const alerts: [number, string][] = [];
    for (let minute = 0; minute <= 70; minute += 5) {
      nowMs = START_MS + minute * MINUTE_MS;
      alerts.push([minute, (await run()).alert]);
    }
    const sentAt = alerts.filter(([, alert]) => alert === "sent").map(([minute]) => minute);
    expect(sentAt).toEqual([0, 30, 60]);
    expect(gateway.accepted).toHaveLength(3);
    expect(lines).toHaveLength(15);
  });

  test.each([10_000, 3])(
    "ends the episode at %i, so that the next crossing alerts at once",
    async (total) => {
      expect((await run()).alert).toBe("sent");
      nowMs += MINUTE_MS;
      expect((await run(at(total))).alert).toBe("not_needed");
      nowMs += MINUTE_MS;
      expect((await run()).alert).toBe("sent");
    },
  );

  test("a failed listing neither alerts nor ends the episode nor is zero", async () => {
    expect((await run()).alert).toBe("sent");
    const failed = await run({ countSockets: () => Promise.reject(new Error("no ss")) });
    expect(failed).toMatchObject({ alert: "not_needed", problems: [{ code: "sockets_unreadable" }] });
    expect(lines.at(-1)).toMatchObject({ total: null, closeWait: null, load1: 99, proxyMemoryBytes: 9e12 });
    expect((await run()).alert).toBe("suppressed");
  });

  test("tries a failed send again at the next run, whatever failed", async () => {
    gateway.routes.send.next({ status: 500, json: {} }, "drop", { status: 429, json: {} });
    for (let n = 0; n < 3; n += 1) {
      expect(await run()).toMatchObject({
        alert: "failed",
        problems: [{ code: expect.stringMatching(/^gateway_/) }],
      });
      nowMs += 5 * MINUTE_MS;
    }
    gateway.instances.clear();
    expect(await run()).toMatchObject({ alert: "failed", problems: [{ code: "sem_instancia_gateway" }] });
    gateway.instances.set("ops", "open");
    expect(await run()).toMatchObject({ alert: "sent", problems: [] });
    expect(lines).toHaveLength(5);
  });

  test.each<[string, () => unknown, string, RegExp]>([
    [
      "a phone that is not paired",
      () => gateway.instances.set("ops", "close"),
      "sem_instancia_gateway",
      /pair the/,
    ],
    [
      "no licence",
      () => void Object.assign(gateway, { isLicensed: false }),
      "gateway_license_required",
      /Activate/,
    ],
    ["a token that has expired", () => refuseByMeta(190), "meta_190", /new, lasting token/],
    ["a limit of Meta's", () => refuseByMeta(130429), "meta_130429", /Wait/],
    ["a refusal of this message", () => refuseByMeta(131030), "meta_131030", /list of error codes/],
    ["a fault of Meta's", () => refuseByMeta(131000), "meta_131000", /the next run tries again$/],
  ])("fails with %s, says what to do, and sends at the next run", async (_what, spoil, code, advice) => {
    await spoil();
    const failed = await run();
    expect(failed).toMatchObject({ alert: "failed", problems: [{ code }] });
    expect(failed.problems[0]!.message).toMatch(advice);
    expect(failed.problems[0]!.message).toMatch(
      /^Cannot send the alert by WhatsApp: .*; the next run tries again$/,
    );
    expect(gateway.accepted).toHaveLength(0);
    gateway.instances.set("ops", "open");
    Object.assign(gateway, { isLicensed: true, metaError: null });
    expect(await run()).toMatchObject({ alert: "sent", problems: [] });
  });

  test("a gateway that is away is not a phone to be paired", async () => {
    const nowhere = new URL(`http://127.0.0.1:${await refusedPort()}`);
    const client = evolutionClient({ baseUrl: nowhere, adminKey: new Secret(KEY) });
    const messenger = { ...dependenciesOf().messenger, gateway: client };
    const { problems } = await run({ messenger });
    expect(problems).toMatchObject([{ code: "gateway_unreachable" }]);
    expect(problems[0]!.message).toContain("Start the gateway, or correct MESSAGING_API_URL");
    expect(problems[0]!.message).not.toMatch(/pair|phone/i);
  });

  test("ends when the gateway hangs", async () => {
    gateway.routes.instances.script = () => "hang";
    const messenger = { ...dependenciesOf().messenger, limitMs: 50 };
    expect(await run({ messenger })).toMatchObject({ alert: "failed" });
    gateway.routes.instances.script = null;
    gateway.routes.send.script = () => "hang";
    expect(await run({ messenger })).toMatchObject({ alert: "failed" });
    expect(lines).toHaveLength(2);
  });

  test("two runs at once send one message, and a killed run holds for minutes only", async () => {
    const alerts = await Promise.all([run(), run()]);
    expect(alerts.map(({ alert }) => alert).sort()).toEqual(["sent", "suppressed"]);
    await run(at(1));
    // Stopped between its claim and its message, as by a kill.
    const [claimed, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const findInstance = async () => {
      claimed.resolve();
      await goesOn.promise;
      return { status: "failed", code: "gateway_timeout", stopsChannel: false } as const;
    };
    const stopped = run({ messenger: { ...dependenciesOf().messenger, findInstance } });
    await claimed.promise;
    nowMs += 4 * MINUTE_MS - 1;
    expect((await run()).alert).toBe("suppressed");
    // Long before the next one begins, which may be a second early.
    nowMs += 1;
    expect((await run()).alert).toBe("sent");
    goesOn.resolve();
    expect((await stopped).alert).toBe("failed");
    expect((await run()).alert).toBe("suppressed");
  });

  test("a run below does not take the claim of one that is sending", async () => {
    const { dedup, close } = await dependenciesOf().openDedup();
    await dedup.claim("socket-monitor:total", 4 * MINUTE_MS);
    await run(at(1));
    expect((await dedup.claim("socket-monitor:total", 1)).status).toBe("duplicate");
    close();
  });

  test("sends even when the dedup cannot be used, and fails", async () => {
    const openDedup = () =>
      openSqliteDedup({ directory: join(folder, "missing"), nowMs: () => nowMs, log: silentLog });
    const report = await run({ openDedup });
    expect(report).toMatchObject({ alert: "sent", problems: [{ code: "STATE_UNAVAILABLE" }] });
    expect(await run({ openDedup, ...at(1) })).toMatchObject({ problems: [{ code: "STATE_UNAVAILABLE" }] });
    gateway.instances.clear();
    const failed = await run({ openDedup });
    expect(failed).toMatchObject({
      alert: "failed",
      problems: [{ code: "STATE_UNAVAILABLE" }, { code: "sem_instancia_gateway" }],
    });
  });

  test("fails when the dedup is lost while it sends, and leaves none open", async () => {
    let [opened, closed] = [0, 0];
    const openDedup = async () => {
      opened += 1;
      if (opened > 1) throw Object.assign(new Error("gone"), { code: "EIO" });
      const { dedup, close } = await dependenciesOf().openDedup();
      return {
        dedup,
        close() {
          closed += 1;
          close();
        },
      };
    };
    expect(await run({ openDedup })).toMatchObject({
      alert: "sent",
      problems: [{ code: "STATE_UNAVAILABLE", message: "Cannot use the shared dedup: EIO" }],
    });
    expect([opened, closed]).toEqual([2, 1]);
  });

  test("logs one line a run, null for what is not known, and nothing private", async () => {
    await run({ readLoadAverage: async () => null, readProxyMemory: async () => null });
    expect(lines).toEqual([
      {
        time: "2026-11-16T12:00:00.000Z",
        threshold: 10_000,
        total: 10_001,
        closeWait: 7,
        load1: null,
        load5: null,
        load15: null,
        proxyMemoryBytes: null,
      },
    ]);
    const unwritable = new OpsError({ code: "LOG_UNWRITABLE", message: "Cannot write it" });
    const report = await run({ appendReadings: () => Promise.reject(unwritable) });
    expect(report).toMatchObject({ alert: "suppressed", problems: [{ code: "LOG_UNWRITABLE" }] });
    expect(JSON.stringify([lines, report])).not.toMatch(/canary|98765/);
  });
});

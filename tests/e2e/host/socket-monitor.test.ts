import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useOwnNetwork } from "../../host/support/own-network.ts";
import { holdSockets, listBySs } from "../../host/support/real-sockets.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { until } from "../../support/until.ts";
import { opsctl, startOpsctl } from "../support/opsctl.ts";
import { commandLineOf, processTree } from "../support/process-facts.ts";

const KEY = "canary-gateway-key-0123456789";
const PHONE = "5511987654321";

type Arena = {
  gateway: Gateway;
  folder: string;
  env: Record<string, string>;
  lines(): Record<string, unknown>[];
  [Symbol.asyncDispose](): Promise<void>;
};

async function openArena(): Promise<Arena> {
  const gateway = await startGateway({ adminKey: KEY });
  const folder = mkdtempSync(join(tmpdir(), "opsctl-socket-monitor-"));
  for (const name of ["log", "state", "textfile"]) mkdirSync(join(folder, name));
  const settings = [
    `MESSAGING_API_URL=${gateway.url}`,
    `MESSAGING_API_KEY="${KEY}"`,
    `MESSAGING_PHONE=${PHONE}`,
  ];
  writeFileSync(join(folder, "webhook.env"), `${settings.join("\n")}\n`, { mode: 0o600 });
  return {
    gateway,
    folder,
    env: {
      OPSCTL_WEBHOOK_ENV_FILE: join(folder, "webhook.env"),
      OPSCTL_LOG_DIR: join(folder, "log"),
      OPSCTL_STATE_DIR: join(folder, "state"),
      TEXTFILE_DIR: join(folder, "textfile"),
      PATH: process.env.PATH ?? "",
    },
    lines() {
      const path = join(folder, "log/socket_monitor.log");
      if (!existsSync(path)) return [];
      return readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

const monitor = (threshold: number) => ["socket-monitor", "--json", "--threshold", String(threshold)];

describe("opsctl socket-monitor that is well", () => {
  test("alerts once an episode, ends it, alerts again, and logs every run", async () => {
    await using arena = await openArena();
    await using _held = await holdSockets("::1", 50, "close-wait");
    writeFileSync(join(arena.folder, "textfile/custom_metrics.prom"), "proxy_memory_bytes 524288000\n");
    const run = async (threshold: number) =>
      (await opsctl(monitor(threshold), { env: arena.env })).json as {
        exitCode: number;
        alert: string;
        total: number;
      };
    const alerts: string[] = [];
    for (const threshold of [1_000_000, 20, 20, 1_000_000, 20]) {
      const { exitCode, alert } = await run(threshold);
      expect(exitCode).toBe(0);
      alerts.push(alert);
    }
    expect(alerts).toEqual(["not_needed", "sent", "suppressed", "not_needed", "sent"]);
    expect(arena.gateway.accepted.map(({ number }) => number)).toEqual([PHONE, PHONE]);
    const lines = arena.lines();
    expect(lines).toHaveLength(5);
    for (const [index, line] of lines.entries()) {
      expect(Object.keys(line)).toEqual([
        "time",
        "threshold",
        "total",
        "closeWait",
        "load1",
        "load5",
        "load15",
        "proxyMemoryBytes",
      ]);
      expect(line).toMatchObject({ load1: expect.any(Number), proxyMemoryBytes: 524_288_000 });
      expect(Number(line.closeWait)).toBeGreaterThanOrEqual(50);
      if (index === 4) expect(arena.gateway.accepted[1]?.text).toContain(`Total: ${line.total} (limite: 20)`);
    }
  });
});

describe("the settings of opsctl socket-monitor", () => {
  test("are its threshold, and the key that was set last, not an older one in the webhook's file", async () => {
    await using arena = await openArena();
    const file = join(arena.folder, "webhook.env");
    writeFileSync(file, readFileSync(file, "utf8").replace(KEY, "the-former-key"), { mode: 0o600 });
    writeFileSync(join(arena.folder, "MESSAGING_API_KEY"), KEY, { mode: 0o600 });
    const env = { ...arena.env, OPSCTL_SECRETS_DIR: arena.folder, SOCKET_THRESHOLD: "1" };
    const alerting = await opsctl(["socket-monitor", "--json"], { env });
    expect(alerting.json).toMatchObject({ exitCode: 0, threshold: 1, alert: "sent" });
    expect(alerting.stderr).toContain(`"variable":"MESSAGING_API_KEY","from":"${file}"`);
    expect(alerting.stderr).not.toContain("the-former-key");
    const silent = await opsctl(monitor(1_000_000), { env });
    expect(silent.json).toMatchObject({ exitCode: 0, threshold: 1_000_000, alert: "not_needed" });
  });
});

describe.concurrent("opsctl socket-monitor in trouble", () => {
  test("says no alert when the sockets cannot be listed, logs nulls and ends with 1", async () => {
    await using arena = await openArena();
    const env = { ...arena.env, PATH: "/nowhere" };
    const { exitCode, json } = await opsctl(monitor(1), { env });
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      alert: "not_needed",
      total: null,
      problems: [{ code: "sockets_unreadable", message: "Cannot list the sockets: ss is not installed" }],
    });
    expect(arena.lines()).toMatchObject([{ total: null, closeWait: null, proxyMemoryBytes: null }]);
    expect(arena.gateway.ledger).toEqual([]);
  });
});

describe("the log of opsctl socket-monitor", () => {
  const VICTIM = "what others may not change\n";
  test.each<[string, (log: string, victim: string) => void]>([
    ["through a link", (log, victim) => symlinkSync(victim, log)],
    ["through a link to nothing", (log, victim) => symlinkSync(`${victim}-nowhere`, log)],
    ["into a pipe that nobody reads", (log) => void spawnSync("mkfifo", ["-m", "600", log])],
  ])("is not written %s", async (_what, make) => {
    await using arena = await openArena();
    const victim = join(arena.folder, "victim");
    writeFileSync(victim, VICTIM, { mode: 0o600 });
    const log = join(arena.folder, "log/socket_monitor.log");
    make(log, victim);
    const { exitCode, json } = await opsctl(monitor(1_000_000), { env: arena.env });
    expect([exitCode, json.problems]).toMatchObject([1, [{ code: "LOG_UNWRITABLE" }]]);
    expect(readFileSync(victim, "utf8")).toBe(VICTIM);
    expect(existsSync(`${victim}-nowhere`)).toBe(false);
  });

  test("has the load of this host, and goes on where cron made it for a group of its own", async () => {
    await using arena = await openArena();
    const run = () => opsctl(monitor(1_000_000), { env: arena.env });
    await run();
    chmodSync(join(arena.folder, "log/socket_monitor.log"), 0o664);
    expect((await run()).exitCode).toBe(0);
    expect(arena.lines()).toHaveLength(2);
    const load = () => readFileSync("/proc/loadavg", "utf8").split(" ").slice(0, 3).map(Number);
    // The kernel computes it anew every five seconds.
    await until("a run between two equal readings of the load", async () => {
      const before = load();
      await run();
      const { load1, load5, load15 } = arena.lines().at(-1)!;
      const isStill = `${before}` === `${load()}`;
      if (isStill) expect([load1, load5, load15]).toEqual(before);
      return isStill;
    });
  });

  test("has the memory that the collector wrote, and null, never zero, of what says none", async () => {
    await using arena = await openArena();
    const path = join(arena.folder, "textfile/custom_metrics.prom");
    const memoryOf = async (text: string | null, ageSeconds = 0) => {
      rmSync(path, { force: true });
      if (text !== null) writeFileSync(path, text);
      const at = new Date(Date.now() - ageSeconds * 1000);
      if (text !== null) utimesSync(path, at, at);
      await opsctl(monitor(1_000_000), { env: arena.env });
      return arena.lines().at(-1)!.proxyMemoryBytes;
    };
    expect(await memoryOf("# TYPE proxy_memory_bytes gauge\nproxy_memory_bytes 524288000\nx 3\n")).toBe(
      524_288_000,
    );
    const none = ["", "other_proxy_memory_bytes 5\n", "proxy_memory_bytes NaN\n", "proxy_memory_bytes -5\n"];
    const odd = ["proxy_memory_bytes 0x10\n", "proxy_memory_bytes 5\r\n", "proxy_memory_bytes 52", null];
    for (const text of [...none, ...odd]) expect([text, await memoryOf(text)]).toEqual([text, null]);
    // Of a collector that has stopped, or wrote before a clock was set back.
    for (const ageSeconds of [310, -310])
      expect(await memoryOf("proxy_memory_bytes 5\n", ageSeconds)).toBeNull();
    expect(await memoryOf("proxy_memory_bytes 5\n", 200)).toBe(5);
    rmSync(path);
    spawnSync("mkfifo", [path]);
    await opsctl(monitor(1_000_000), { env: arena.env });
    expect(arena.lines().at(-1)!.proxyMemoryBytes).toBeNull();
  });
});

describe("opsctl socket-monitor, with real sockets,", () => {
  useOwnNetwork();
  test.each([
    { name: "at the threshold", below: 0, alert: "not_needed" },
    { name: "one above it", below: 1, alert: "sent" },
  ])("$name: $alert", async ({ below, alert }) => {
    await using arena = await openArena();
    await using _held = await holdSockets("127.0.0.1", 100, "open");
    let { total } = listBySs();
    // Connections that others have just closed leave the listing one by one: what was listed last is the next guess.
    await until("a run that lists as many as the one before", async () => {
      arena.gateway.accepted.length = 0;
      rmSync(join(arena.folder, "state"), { recursive: true });
      mkdirSync(join(arena.folder, "state"), { mode: 0o700 });
      const guess = total;
      const { json } = await opsctl(monitor(guess - below), { env: arena.env });
      total = json.total as number;
      if (total !== guess) return false;
      expect(json.alert).toBe(alert);
      expect(arena.gateway.accepted.map(({ text }) => text.includes(`Total: ${total} `))).toEqual(
        alert === "sent" ? [true] : [],
      );
      return true;
    });
  });
});

describe.concurrent("opsctl socket-monitor", () => {
  test("needs its settings, and writes no line without them", async () => {
    await using arena = await openArena();
    writeFileSync(join(arena.folder, "webhook.env"), "MESSAGING_API_KEY='$(touch /tmp/opsctl-ran)'\n");
    const { exitCode, json } = await opsctl(monitor(1), { env: arena.env });
    expect(exitCode).toBe(3);
    const { code, message } = json.error as { code: string; message: string };
    expect(code).toBe("CONFIG_INVALID");
    expect(message).toContain("MESSAGING_API_URL");
    expect(message).toContain("MESSAGING_PHONE");
    expect(message).not.toContain("MESSAGING_API_KEY");
    expect(arena.lines()).toEqual([]);
    expect(existsSync("/tmp/opsctl-ran")).toBe(false);
  });

  test.each(["--threshold=0", "--threshold=many", "--threshold", "--treshold=5"])(
    "refuses %s",
    async (word) => {
      expect((await opsctl(["socket-monitor", word])).exitCode).toBe(2);
    },
  );

  test("shows neither key nor phone: not in its output, its log, its arguments, nor what it leaves behind", async () => {
    await using arena = await openArena();
    arena.gateway.routes.send.next({ status: 400, json: { response: { message: [`${PHONE} ${KEY}`] } } });
    arena.gateway.latencyMs = 300;
    const running = await startOpsctl(monitor(1), { env: { ...arena.env, OPSCTL_LOG_LEVEL: "debug" } });
    await until("the gateway to be asked", () => arena.gateway.ledger.length > 0);
    const facts = processTree(running.pid).map(commandLineOf).join("\n");
    const { stdout, stderr, exitCode } = await running.ended;
    expect(exitCode).toBe(1);
    expect(facts).toContain("socket-monitor");
    const left = readFileSync(join(arena.folder, "log/socket_monitor.log"), "utf8");
    for (const text of [stdout, stderr, facts, left]) {
      expect(text).not.toContain(KEY);
      expect(text).not.toContain(PHONE);
    }
  });
});

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openNotifySocket } from "../../lib/platform/notify-socket.ts";
import { openServiceManager } from "../../lib/platform/service-manager.ts";
import { denoBinary } from "../support/deno-binary.ts";
import { until } from "../support/until.ts";
import { listenForNotifications, type NotifyListener } from "./support/notify-listener.ts";

const ALIVE = new TextEncoder().encode("WATCHDOG=1");

let directory: string;
let path: string;
let systemd: NotifyListener;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-notify-"));
  path = join(directory, "notify");
  systemd = listenForNotifications(path);
});
afterEach(() => {
  systemd.close();
  rmSync(directory, { recursive: true });
});

describe("openNotifySocket()", () => {
  test("tells a socket at a path, each time a datagram", () => {
    const notify = openNotifySocket(path)!;
    expect([notify(ALIVE), notify(ALIVE)]).toEqual([true, true]);
    expect(systemd.take()).toEqual(["WATCHDOG=1", "WATCHDOG=1"]);
  });

  test("tells a socket of an abstract name", () => {
    const name = `@opsctl-test-${process.pid}-${Date.now()}`;
    const abstract = listenForNotifications(name);
    expect(openNotifySocket(name)!(ALIVE)).toBe(true);
    expect(abstract.take()).toEqual(["WATCHDOG=1"]);
    abstract.close();
  });

  test("does not wait where nothing is read, and goes on when it is", () => {
    const notify = openNotifySocket(path)!;
    let told = 0;
    while (notify(ALIVE) && told < 100_000) told += 1;
    expect(told).toBeLessThan(100_000);
    expect(systemd.take()).toHaveLength(told);
    expect(notify(ALIVE)).toBe(true);
  });

  test("finds the socket again that was made anew, and says when it is gone", () => {
    const notify = openNotifySocket(path)!;
    systemd.close();
    rmSync(path);
    expect(notify(ALIVE)).toBe(false);
    systemd = listenForNotifications(path);
    expect(notify(ALIVE)).toBe(true);
    expect(systemd.take()).toEqual(["WATCHDOG=1"]);
  });

  test("is null where there is no such socket", async () => {
    expect(openNotifySocket(join(directory, "absent"))).toBeNull();
    expect(openNotifySocket("relative")).toBeNull();
    expect(openNotifySocket(`/${"x".repeat(107)}`)).toBeNull();
    expect(openNotifySocket(path, null)).toBeNull();
    writeFileSync(join(directory, "file"), "");
    expect(openNotifySocket(join(directory, "file"))).toBeNull();
    const stream = createServer().listen(join(directory, "stream"));
    await new Promise((resolve) => stream.once("listening", resolve));
    expect(openNotifySocket(join(directory, "stream"))).toBeNull();
    stream.close();
  });
});

describe("openServiceManager()", () => {
  const failures: string[] = [];
  const open = (env: Record<string, string>) =>
    openServiceManager(env, { pid: 7, onFailure: (code) => void failures.push(code), everyMs: 5 });

  test("says that the service is ready, and no more where no one watches it", async () => {
    for (const more of [{}, { WATCHDOG_USEC: "0" }, { WATCHDOG_USEC: "120000000", WATCHDOG_PID: "8" }]) {
      const manager = open({ NOTIFY_SOCKET: path, ...more });
      await manager.ready();
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(systemd.take()).toEqual(["READY=1"]);
      manager.close();
    }
    expect(failures).toEqual([]);
  });

  test.each([{ WATCHDOG_USEC: "120000000" }, { WATCHDOG_USEC: "120000000", WATCHDOG_PID: "7" }])(
    "says again and again that it lives: %p",
    async (env) => {
      const manager = open({ NOTIFY_SOCKET: path, ...env });
      let seen = 0;
      await until("it was told three times", () => {
        seen += systemd.take().filter((words) => words === "WATCHDOG=1").length;
        return seen >= 3;
      });
      manager.close();
      systemd.take();
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(systemd.take()).toEqual([]);
    },
  );

  test("says it three times within a limit that is shorter than usual", async () => {
    const manager = openServiceManager(
      { NOTIFY_SOCKET: path, WATCHDOG_USEC: "30000" },
      { pid: 7, onFailure() {} },
    );
    await until("it was told", () => systemd.take().length > 0);
    manager.close();
  });

  test("says nothing where no manager listens", async () => {
    const manager = open({});
    await manager.ready();
    manager.close();
  });

  test("says what could not be told", async () => {
    const before = process.env.PATH;
    process.env.PATH = directory;
    const manager = open({ NOTIFY_SOCKET: join(directory, "absent") });
    await manager.ready();
    process.env.PATH = before;
    expect(failures).toEqual(["ENOENT"]);
  });

  test.each([
    ["Bun", [process.execPath]],
    ["Deno", [denoBinary(), "run", "-A", "--no-lock"]],
  ])("tells it also when no descriptor is left, on %s", (_runtime, command) => {
    const program = [...command, join(import.meta.dirname, "support/notify-sender.ts")];
    const { stdout, stderr } = spawnSync("/bin/sh", ["-c", 'ulimit -n 100; exec "$@"', "sh", ...program], {
      env: { ...process.env, NOTIFY_SOCKET: path, WATCHDOG_USEC: "120000000" },
      encoding: "utf8",
    });
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual({ isShort: true, failures: [] });
    const told = systemd.take();
    expect(told).toContain("READY=1");
    expect(told.filter((words) => words === "WATCHDOG=1").length).toBeGreaterThan(1);
  });
});

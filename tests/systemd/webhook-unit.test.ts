import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { opsctlBinary } from "../support/binary.ts";
import { requires } from "../support/requires.ts";
import { cronEnvironment, unitEnvironment } from "../support/started-environment.ts";
import { findAnalyze } from "./support/systemd-analyze.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const SERVICE = "opsctl-webhook.service";
const SOCKET = "opsctl-webhook.socket";
const BINARY = "/usr/local/bin/opsctl";
const MOST_EXPOSURE = 2.0;

const service = read(SERVICE);
const socket = read(SOCKET);
const directory = mkdtempSync(join(tmpdir(), "opsctl-units-"));
const analyze = findAnalyze(directory);
const analyzed = requires("systemd-analyze");
afterAll(() => rmSync(directory, { recursive: true }));

function read(name: string): string {
  return readFileSync(join(root, "systemd", name), "utf8");
}

/** The values of a key in a unit, in order; the last assignment counts for most keys. */
function valuesOf(unit: string, key: string): string[] {
  return unit.split("\n").flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
}

/** Copies of both units whose program exists on every machine: `verify` looks for it. */
function copies({ change = (text: string) => text } = {}): { service: string; socket: string } {
  const paths = { service: join(directory, SERVICE), socket: join(directory, SOCKET) };
  writeFileSync(paths.service, change(service).replaceAll(BINARY, process.execPath));
  copyFileSync(join(root, "systemd", SOCKET), paths.socket);
  return paths;
}

/** What `systemd-analyze security` finds; the socket unit starts no program of its own, so it is not judged. */
function exposureOf(path: string): { exposure: number; isBelowThreshold: boolean } {
  const words = ["security", "--offline=true", "--no-pager", `--threshold=${MOST_EXPOSURE * 10}`, path];
  const { status, output } = analyze!(...words);
  return {
    exposure: Number(/Overall exposure level[^\n]*: (\d+\.\d)/.exec(output)?.[1]),
    isBelowThreshold: status === 0,
  };
}

describe("the webhook's units", () => {
  analyzed.test("systemd-analyze verify finds nothing to say about them", () => {
    expect(service).toContain(`ExecStart=${BINARY} webhook serve --digest-after 120\n`);
    const paths = copies();
    expect(analyze!("verify", "--man=no", paths.service, paths.socket)).toEqual({ status: 0, output: "" });
    const misspelt = copies({ change: (text) => text.replace("RestartSec=", "RestartSeconds=") });
    expect(analyze!("verify", "--man=no", misspelt.service).output).toContain("RestartSeconds");
  });

  analyzed.test("systemd-analyze security finds an exposure of at most 2.0", () => {
    const { exposure, isBelowThreshold } = exposureOf(copies().service);
    expect(exposure).toBeLessThanOrEqual(MOST_EXPOSURE);
    expect(isBelowThreshold).toBe(true);
    const open = copies({ change: (text) => text.replace(/^(SystemCallFilter|Private\w+|User)=.*\n/gm, "") });
    expect(exposureOf(open.service).exposure).toBeGreaterThan(MOST_EXPOSURE);
  });

  test.each([
    ["Type", ["notify"]],
    ["NotifyAccess", ["all"]],
    ["WatchdogSec", ["120"]],
    ["User", ["opsctl"]],
    ["EnvironmentFile", []],
    ["ExecReload", [`/bin/sh -c 'kill -HUP "$$MAINPID"'`]],
    ["StateDirectory", ["opsctl"]],
    ["StateDirectoryMode", ["0700"]],
    ["LogsDirectory", []],
    ["Requires", [SOCKET]],
    ["WantedBy", ["multi-user.target"]],
    ["Restart", ["always"]],
    ["StartLimitIntervalSec", ["0"]],
    ["RestartPreventExitStatus", []],
    // What the engine needs, and the variables that must not reach it; `systemd-analyze security` judges the rest.
    ["MemoryDenyWriteExecute", ["no"]],
    ["SystemCallErrorNumber", ["EPERM"]],
    ["RestrictAddressFamilies", ["AF_INET AF_INET6 AF_UNIX"]],
    ["UnsetEnvironment", ["BUN_OPTIONS BUN_BE_BUN"]],
  ])("the service has %s=%j", (key, values) => {
    expect(valuesOf(service, key)).toEqual(values);
  });

  test("the service may take longer to end than it needs, and its resources have limits", () => {
    expect(Number.parseInt(valuesOf(service, "TimeoutStopSec")[0] ?? "", 10)).toBeGreaterThan(10);
    for (const key of ["MemoryMax", "TasksMax", "LimitNOFILE"])
      expect(valuesOf(service, key)[0]).toMatch(/^\d+[MG]?$/);
  });

  test.each([
    ["ListenStream", ["0.0.0.0:9300"]],
    ["FileDescriptorName", ["webhook"]],
    ["Accept", []],
    ["IPAddressDeny", ["any"]],
    ["IPAddressAllow", ["localhost 172.16.0.0/12 10.0.0.0/8"]],
    ["IPAccounting", ["yes"]],
    ["TriggerLimitIntervalSec", ["0"]],
    ["WantedBy", ["sockets.target"]],
    ["PartOf", []],
    ["BindsTo", []],
  ])("the socket has %s=%j", (key, values) => {
    expect(valuesOf(socket, key)).toEqual(values);
  });

  test("the socket lets many connections wait and starts no program of its own", () => {
    expect(Number(valuesOf(socket, "Backlog")[0])).toBeGreaterThanOrEqual(1024);
    expect(socket).not.toMatch(/^Exec/m);
  });
});

/** What starts the binary and sets its engine, with the variables of each. */
const ENGINES = [
  ["the service", unitEnvironment()],
  ["the weekly line of cron", cronEnvironment()],
] as const;

test.each(ENGINES)("the engine knows each variable of %s, and each value", async (_what, settings) => {
  const binary = await opsctlBinary();
  const start = (env: Record<string, string>) => {
    const { status, stdout } = spawnSync(binary, ["--version"], { env, encoding: "utf8" });
    return { status, isItself: stdout.startsWith("opsctl ") };
  };
  expect(Object.keys(settings).length).toBeGreaterThan(0);
  expect(start(settings)).toEqual({ status: 0, isItself: true });
  // What the engine does not know keeps it from starting.
  for (const [name, value] of Object.entries(settings)) {
    expect(name).toMatch(/^BUN_JSC_[A-Za-z]+$/);
    expect(start({ [`${name}s`]: value })).toEqual({ status: 1, isItself: false });
    expect(start({ [name]: `not ${value}` })).toEqual({ status: 1, isItself: false });
  }
});

describe("webhook.env.example", () => {
  const example = read("webhook.env.example");
  const names = example.split("\n").flatMap((line) => (line === "" || line.startsWith("#") ? [] : [line]));

  test("has no value, each variable once, and words before each of them", () => {
    for (const line of names) expect(line).toMatch(/^[A-Z][A-Z_]*=$/);
    expect(new Set(names).size).toBe(names.length);
    expect(example).not.toMatch(/\n\n[A-Z]/);
  });
});

describe("proxy and firewall", () => {
  test("the proxy's route knows port 9300 of this host and no other", () => {
    const lines = settingLines("proxy/opsctl-alerts.yml");
    expect(lines.match(/:\d+/g)).toEqual([":9300"]);
    expect(lines).toContain("Host(`alerts.example.com`)");
  });

  test("socket, ufw and nftables know the same two container ranges, and port 9300 alone", () => {
    const places = ["opsctl-webhook.socket", "firewall/opsctl-webhook.ufw.sh", "firewall/opsctl-webhook.nft"];
    for (const lines of places.map(settingLines)) {
      expect(lines.match(/\d+\.\d+\.\d+\.\d+\/\d+/g)?.sort()).toEqual(["10.0.0.0/8", "172.16.0.0/12"]);
      expect(new Set(lines.match(/(?<=port |0:)\d+/g))).toEqual(new Set(["9300"]));
    }
  });

  function settingLines(name: string): string {
    const lines = read(name).split("\n");
    return lines.filter((line) => !/^\s*#/.test(line)).join("\n");
  }
});

/** The rotation of logs, by its lines and by logrotate itself. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { HEARTBEAT_FILE } from "../../lib/last-run/file-name.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { requires } from "../support/requires.ts";
import { type Clone, makeClone, type Ran, removeClone, run } from "./support/clone.ts";

const tool = findDebianTool({ program: "logrotate", packageName: "logrotate" });
const tried = requires("logrotate");

const SOCKET_LOG_FILE = "socket_monitor.log";
const LOGS = ["weekly.log", "collect-metrics.log", "socket-monitor-cron.log", SOCKET_LOG_FILE];
const MIB = 1024 * 1024;

let clone: Clone;
let text: string;
beforeAll(() => {
  clone = makeClone();
  text = readFileSync(join(clone.clone, "systemd/opsctl.logrotate"), "utf8");
});
afterAll(() => removeClone(clone));

type FileWatch = { folder: string; rotate: (...words: string[]) => Ran };

/** A log directory of this test's account, last rotated long ago. */
function makePlace(name: string, files: Record<string, string>): FileWatch {
  const folder = join(clone.folder, name);
  mkdirSync(folder, { mode: 0o750 });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  const [own, state] = [join(clone.folder, `${name}.conf`), join(clone.folder, `${name}.state`)];
  const [user, group] = ["-un", "-gn"].map((flag) => run("id", [flag]).stdout.trim());
  writeFileSync(
    own,
    text.replaceAll("/var/log/opsctl", folder).replaceAll("opsctl opsctl", `${user} ${group}`),
    {
      mode: 0o644,
    },
  );
  const known = Object.keys(files).map((file) => `"${join(folder, file)}" 2020-1-1-0:0:0`);
  writeFileSync(state, `logrotate state -- version 2\n${known.join("\n")}\n`, { mode: 0o600 });
  return { folder, rotate: (...words) => run(tool as string, ["-s", state, ...words, own]) };
}

describe("the log rotation", () => {
  test("names the logs only, as the service user, and keeps a run that goes on readable", () => {
    const lines = text.split("\n").flatMap((line) => (/^\s*(#|$)/.test(line) ? [] : [line.trim()]));
    expect(lines).toEqual([
      "/var/log/opsctl/*.log {",
      "su opsctl opsctl",
      "monthly",
      "minsize 1M",
      "maxsize 20M",
      "rotate 12",
      "missingok",
      "notifempty",
      "create 0640 opsctl opsctl",
      "compress",
      "delaycompress",
      "}",
    ]);
    expect(LOGS.every((name) => name.endsWith(".log"))).toBe(true);
    expect(HEARTBEAT_FILE).not.toEndWith(".log");
  });

  tried.test("is understood by logrotate", () => {
    const { stderr, status } = makePlace("understood", { "weekly.log": "x\n" }).rotate("-d");
    expect(status).toBe(0);
    expect(stderr.match(/^(error|warning): (?!logrotate in debug mode).*$/gm)).toBeNull();
    expect(stderr).toContain("weekly.log");
  });

  tried.test("rotates what has grown, leaves small logs whole, and never touches the heartbeat", () => {
    const large = `${"x".repeat(MIB + 1)}\n`;
    const { folder, rotate } = makePlace("grown", {
      "weekly.log": '{"command":"weekly"}\n',
      "collect-metrics.log": large,
      [SOCKET_LOG_FILE]: large,
      [HEARTBEAT_FILE]: large,
    });
    utimesSync(join(folder, HEARTBEAT_FILE), 1000, 1000);
    expect(rotate()).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(readdirSync(folder).sort()).toEqual(
      [
        "collect-metrics.log",
        "collect-metrics.log.1",
        SOCKET_LOG_FILE,
        `${SOCKET_LOG_FILE}.1`,
        "weekly.log",
        HEARTBEAT_FILE,
      ].sort(),
    );
    const { mode, uid, size } = lstatSync(join(folder, "collect-metrics.log"));
    expect([(mode & 0o7777).toString(8), uid, size]).toEqual(["640", process.geteuid!(), 0]);
    expect(readFileSync(join(folder, "weekly.log"), "utf8")).toBe('{"command":"weekly"}\n');
    expect(lstatSync(join(folder, HEARTBEAT_FILE)).mtimeMs).toBe(1_000_000);
  });

  tried.test("a forced rotation also leaves the heartbeat and compresses the one before the last", () => {
    const { folder, rotate } = makePlace("forced", { "weekly.log": "1\n", [HEARTBEAT_FILE]: "{}\n" });
    expect(rotate("-f").status).toBe(0);
    writeFileSync(join(folder, "weekly.log"), "2\n");
    expect(rotate("-f").status).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(
      ["weekly.log", "weekly.log.1", "weekly.log.2.gz", HEARTBEAT_FILE].sort(),
    );
  });
});

/** The cron file as cron reads it; Debian's cron has no check of its own, so its rules stand here. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CronLine, cronLines } from "../../lib/host/cron.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../support/account-host.ts";
import { opsctlBinary } from "../support/binary.ts";
import { requires } from "../support/requires.ts";
import { cronEnvironment } from "../support/started-environment.ts";
import { type Clone, make, makeClone, type Ran, removeClone, run } from "./support/clone.ts";

const ENVIRONMENT_OF_CRON = ["HOME", "LOGNAME", "MAILTO", "OPSCTL_ENV_DIR", "PATH", "PWD", "SHELL"];
const engineNamesOf = (command: string) => (command === "weekly" ? Object.keys(cronEnvironment()) : []);
/** cron's own limit of a command. */
const LONGEST_COMMAND = 998;

let clone: Clone;
let text: string;
let etc: string;
let logs: string;
beforeAll(() => {
  clone = makeClone();
  [etc, logs] = [join(clone.folder, "etc"), join(clone.folder, "logs")];
  mkdirSync(logs);
  mkdirSync(join(clone.folder, "stub"));
  // Neither the account nor root is needed to see what a line does beside that; the last part of this file has both.
  stub("setpriv", 'while case $1 in --*) true ;; *) false ;; esac; do shift; done\nexec "$@"');
  expect(make(clone, ["install", `PREFIX=${clone.folder}/usr`, `SYSCONFDIR=${etc}`]).status).toBe(0);
  text = readFileSync(join(etc, "cron.d/opsctl"), "utf8");
});
afterAll(() => removeClone(clone));

function stub(name: string, body: string): void {
  writeFileSync(join(clone.folder, "stub", name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

/** The settings and the lines that cron would start; every other line has to be a comment. */
function parse(file: string): { settings: Record<string, string>; entries: CronLine[] } {
  const lines = file.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const entries = cronLines(file);
  const settings = lines.flatMap((line) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value]];
  });
  expect(entries.length + settings.length).toBe(lines.length);
  return { settings: Object.fromEntries(settings), entries };
}

function entryOf(command: string): CronLine {
  const found = parse(text).entries.filter((entry) => entry.command.includes(`opsctl ${command}`));
  expect(found).toHaveLength(1);
  return found[0] as CronLine;
}

/** Runs a line as cron does: nothing but its own settings in the environment; the log directory is the test's. */
function runLine(command: string, path = `${clone.folder}/stub:/usr/bin:/bin`): Ran {
  const { settings } = parse(text);
  return run(settings.SHELL as string, ["-c", entryOf(command).command.replaceAll("/var/log/opsctl", logs)], {
    cwd: "/",
    env: { ...settings, PATH: path, HOME: "/", LOGNAME: "x" },
  });
}

const LINES = [
  ["weekly", "weekly --json", "0 11 * * 1", "opsctl", "weekly.log"],
  ["collect-metrics", "collect-metrics --json", "* * * * *", "root", "collect-metrics.log"],
  ["socket-monitor", "socket-monitor --json", "*/5 * * * *", "opsctl", "socket-monitor-cron.log"],
] as const;

describe("the cron file", () => {
  test("has three entries and ends with a line's end, without which cron ignores it; nothing is mailed", () => {
    expect(text).toEndWith("\n");
    const { settings, entries } = parse(text);
    expect(entries.map(({ schedule, user }) => [schedule, user])).toEqual(
      LINES.map(([, , time, user]) => [time, user]),
    );
    expect(settings).toEqual({
      SHELL: "/bin/sh",
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      MAILTO: '""',
      OPSCTL_ENV_DIR: join(etc, "opsctl"),
    });
  });

  test("names no secret, has no percent sign, which cron takes for a line's end, and no command that is too long", () => {
    expect(text).not.toMatch(/SECRET|TOKEN|KEY|URL/);
    const { entries } = parse(readFileSync(join(clone.clone, "systemd/opsctl.cron"), "utf8"));
    expect(entries).toHaveLength(LINES.length);
    for (const { command } of entries) {
      expect(command).not.toContain("%");
      expect(command.length).toBeLessThan(LONGEST_COMMAND);
    }
  });

  // webhook-unit.test.ts starts the binary with it.
  test("sets the binary's engine for the weekly run alone", () => {
    expect(cronEnvironment()).toEqual({ BUN_JSC_useFTLJIT: "0" });
    const entries = parse(text).entries.filter((entry) => entry.command.includes("BUN_JSC_"));
    expect(entries).toEqual([entryOf("weekly")]);
  });
});

describe.each(LINES)("the line of %s", (command, words, _time, _user, log) => {
  const logText = () => readFileSync(join(logs, log), "utf8");

  test("appends all output to its log, prints nothing, and gives the command no variable but cron's and the engine's", () => {
    writeFileSync(join(logs, log), "earlier line\n");
    const { stdout, stderr } = runLine(command);
    expect([stdout, stderr]).toEqual(["", ""]);
    const lines = logText().split("\n");
    expect(lines.slice(0, 3)).toEqual(["earlier line", "log-line", `called with: ${words}`]);
    const names = lines.filter((line) => /^[A-Z_a-z]+=/.test(line)).map((line) => line.split("=")[0]);
    expect(names.sort()).toEqual([...ENVIRONMENT_OF_CRON, ...engineNamesOf(command)].sort());
  });
});

describe("the collector's log", () => {
  test("is opened by the service user", () => {
    expect(entryOf("collect-metrics").command).toMatch(
      / 2>&1 \| setpriv --reuid=opsctl --regid=opsctl --clear-groups .* tee -a /,
    );
  });

  // Only root may become another account.
  requires("root").test("does not lead root anywhere by a link in its place", () => {
    const [target, link] = [join(clone.folder, "only-roots"), join(logs, "collect-metrics.log")];
    writeFileSync(target, "untouched\n", { mode: 0o600 });
    rmSync(link, { force: true });
    symlinkSync(target, link);
    const { command } = entryOf("collect-metrics");
    const line = command.replaceAll("/var/log/opsctl", logs).replaceAll("id=opsctl", "id=65534");
    const { stderr } = run("/bin/sh", ["-c", line], { env: { PATH: "/usr/bin:/bin" } });
    expect(stderr).toContain("Permission denied");
    expect(readFileSync(target, "utf8")).toBe("untouched\n");
    rmSync(link);
  });
});

/** The line with the account's own places, for a machine that has the account. */
function lineOn(host: AccountHost, command: string): string {
  return readFileSync(join(clone.clone, "systemd/opsctl.cron"), "utf8")
    .split("\n")
    .filter((line) => line.includes(`opsctl ${command} --json`))
    .map((line) => line.split(" ").slice(6).join(" "))
    .join("\n")
    .replaceAll("/var/log/opsctl", host.path("log"))
    .replaceAll("/usr/local/bin/opsctl", join(host.clone, "dist/opsctl"));
}

const onHost = requires("account");

onHost.describe("a line on a host, with the binary", () => {
  let host: AccountHost;
  beforeAll(async () => {
    host = openAccountHost();
    await opsctlBinary();
    host.make("etc");
    host.make("log", 0o750, ACCOUNT.uid);
  });
  afterAll(() => host[Symbol.dispose]());

  /** A secret command that writes down what it is, in a file of the account that started it. */
  function witness(command: string, variables: Record<string, string>, uid = 0): () => string {
    const out = `${host.make(`${command}-facts`, 0o755, uid)}/facts`;
    const vault = host.put(`${command}.sh`, `#!/bin/sh\n{ cat /proc/self/status; env; } > ${out}\n`, 0o755);
    const all = { OPSCTL_SECRETS_COMMAND: vault, OPSCTL_SECRETS_DIR: host.path("none"), ...variables };
    const lines = Object.entries(all).map(([name, value]) => `${name}='${value}'\n`);
    host.put(`etc/${command}.env`, lines.join(""), 0o600, uid);
    return () => readFileSync(out, "utf8");
  }

  /** As cron would, whose file may set variables: two of them would make something else of the binary. */
  function runAs(account: "root" | "opsctl", command: string): Ran {
    const become = account === "root" ? [] : ["setpriv", "--reuid=opsctl", "--regid=opsctl", "--init-groups"];
    const [program = "", ...words] = host.inside([...become, "sh", "-c", lineOn(host, command)]);
    const ofCron = { OPSCTL_ENV_DIR: host.path("etc"), BUN_OPTIONS: "--print=1", BUN_BE_BUN: "1" };
    return run(program, words, { cwd: "/", env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...ofCron } });
  }

  test.each(["weekly", "socket-monitor"])("starts %s without a way to a privilege", (command) => {
    const facts = witness(command, {}, ACCOUNT.uid);
    expect(runAs("opsctl", command)).toMatchObject({ stdout: "", stderr: "" });
    expect(facts()).toMatch(/^NoNewPrivs:\t1$/m);
    expect(facts()).toMatch(/^CapEff:\t0{16}$/m);
    expect(facts()).not.toMatch(/^BUN_(OPTIONS|BE_BUN)=/m);
  });

  requires("ss").test(
    "the collector starts with what it needs of root's capabilities and no more, which is enough",
    () => {
      const other = ACCOUNT.uid + 100;
      const textfile = host.make("textfile", 0o755, other);
      host.put("log/weekly_performance_reports.success", "{}", 0o600, ACCOUNT.uid);
      const facts = witness("collect-metrics", {
        TEXTFILE_DIR: textfile,
        OPSCTL_LOG_DIR: host.path("log"),
      });
      expect(runAs("root", "collect-metrics")).toMatchObject({ stdout: "", stderr: "" });
      expect(facts()).toMatch(/^Uid:\t0\t0\t0\t0$/m);
      expect(facts()).toMatch(/^NoNewPrivs:\t1$/m);
      // DAC_READ_SEARCH (2), SETGID (6), SETUID (7).
      for (const set of ["CapBnd", "CapEff", "CapPrm"])
        expect(facts()).toMatch(new RegExp(`^${set}:\t0{14}c4$`, "m"));
      expect(facts()).not.toMatch(/^BUN_(OPTIONS|BE_BUN)=/m);
      const metrics = join(textfile, "custom_metrics.prom");
      expect(lstatSync(metrics).uid).toBe(other);
      expect(readFileSync(metrics, "utf8")).toMatch(/^weekly_report_last_success_timestamp_seconds \d/m);
      expect(readFileSync(metrics, "utf8")).toMatch(/^tcp_sockets_total \d/m);
      expect(lstatSync(host.path("log/collect-metrics.log")).uid).toBe(ACCOUNT.uid);
    },
  );
});

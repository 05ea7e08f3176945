/** The collector as root, and a last-run file in a directory of the account `opsctl`. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { linkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { lastRun } from "../../status/support/run.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { weekOf } from "../../weekly/announce/support.ts";
import { logLines, startProgram } from "../support/opsctl.ts";

const { test } = requires("account");

const RUN = JSON.stringify(lastRun({ status: "failed", week: weekOf({ email: { unknown: 3 } }) }).run);

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
});
afterAll(() => host[Symbol.dispose]());

async function collect(logDir: string, cwd = "/") {
  const words = host.inside(await host.opsctl("binary", ["collect-metrics", "--stdout"]), `cd ${cwd}`);
  const env = {
    PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
    HOME: host.folder,
    OPSCTL_LOG_DIR: logDir,
    DOCKER_HOST: `unix://${host.path("no.sock")}`,
    OPSCTL_SECRETS_DIR: host.path("no-secrets"),
  };
  const { stdout, stderr } = await startProgram(words, { cwd: "/", env }).ended;
  const codes = logLines(stderr)
    .filter(({ source }) => source === "heartbeat")
    .map(({ code, msg }) => `${code} ${msg}`);
  return { stdout, codes };
}

describe("collect-metrics as root", () => {
  test("reads the file in a directory of the account, from wherever root is", async () => {
    const logDir = host.make("log", 0o750, ACCOUNT.uid);
    host.put(`log/${LAST_RUN_FILE}`, RUN, 0o600, ACCOUNT.uid);
    const closed = host.make("closed", 0o700);
    const { stdout, codes } = await collect(logDir, closed);
    expect(codes).toEqual([]);
    expect(stdout).toContain("\nweekly_report_last_run_success 0\n");
    expect(stdout).toContain('\nweekly_report_open_deliveries{channel="email",state="unknown"} 3\n');
    expect(stdout).toContain('\nopsctl_collector_up{source="heartbeat"} 1\n');
  });

  test("shows nothing of another file of root's that the account has given that name", async () => {
    const logDir = host.make("foreign", 0o750, ACCOUNT.uid);
    const secret = host.put("secret-of-root", JSON.stringify({ status: "canary-of-root" }));
    linkSync(secret, join(logDir, LAST_RUN_FILE));
    const { stdout, codes } = await collect(logDir);
    expect(stdout + codes.join()).not.toContain("canary-of-root");
    expect(codes).toEqual([
      `last_run_unreadable Cannot read ${join(logDir, LAST_RUN_FILE)}: LAST_RUN_MALFORMED`,
    ]);
  });

  test("follows no link, not even to a file of the account", async () => {
    const logDir = host.make("linked", 0o750, ACCOUNT.uid);
    host.put("linked/target", RUN, 0o600, ACCOUNT.uid);
    symlinkSync(join(logDir, "target"), join(logDir, LAST_RUN_FILE));
    const { stdout, codes } = await collect(logDir);
    expect(stdout).not.toContain("weekly_report_last_run");
    expect(codes).toEqual([`last_run_unreadable Cannot read ${join(logDir, LAST_RUN_FILE)}: ELOOP`]);
  });
});

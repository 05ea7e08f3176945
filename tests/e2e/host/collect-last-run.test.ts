/** The collector as root, and a last-run file in a directory of the account `opsctl`: root does not open it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { ownProcessMark } from "../../../lib/last-run/process-mark.ts";
import {
  ACCOUNT,
  type AccountHost,
  canHaveAccount,
  openAccountHost,
  UNTRIED,
} from "../../support/account-host.ts";
import { denoCache } from "../../support/deno-cache.ts";
import { weekOf } from "../../weekly/announce/support.ts";
import { ENGINES, logLines, type RuntimeName, startProgram } from "../support/opsctl.ts";

const RUN = JSON.stringify({
  status: "failed",
  runId: "r",
  begunAt: "2026-11-23T11:00:00Z",
  window: null,
  retryableUntil: null,
  error: null,
  week: weekOf({ email: { unknown: 3 } }),
  process: ownProcessMark(),
  announcement: null,
});

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
  // The collector's own time limits are not about how long Deno takes to compile the sources.
  if (canHaveAccount) host.warmDeno();
});
afterAll(() => host[Symbol.dispose]());

async function collect(runtime: RuntimeName, logDir: string, cwd = "/") {
  const words = host.inside(await host.opsctl(runtime, ["collect-metrics", "--stdout"]), `cd ${cwd}`);
  const env = {
    PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
    HOME: host.folder,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR: denoCache(),
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

describe.if(canHaveAccount).each(ENGINES)(`collect-metrics as root, %s${UNTRIED}`, (runtime) => {
  test("reads the file as the account that the directory belongs to, from wherever root is", async () => {
    const logDir = host.make(`log-${runtime}`, 0o750, ACCOUNT.uid);
    host.put(`log-${runtime}/${LAST_RUN_FILE}`, RUN, 0o600, ACCOUNT.uid);
    const closed = host.make(`closed-${runtime}`, 0o700);
    const { stdout, codes } = await collect(runtime, logDir, closed);
    expect(codes).toEqual([]);
    expect(stdout).toContain("\nweekly_report_last_run_success 0\n");
    expect(stdout).toContain('\nweekly_report_open_deliveries{channel="email",state="unknown"} 3\n');
    expect(stdout).toContain('\nopsctl_collector_up{source="heartbeat"} 1\n');
  });

  test("does not read with root's eyes what the account may not read", async () => {
    const logDir = host.make(`foreign-${runtime}`, 0o750, ACCOUNT.uid);
    host.put(`foreign-${runtime}/${LAST_RUN_FILE}`, RUN, 0o600, 0);
    const { stdout, codes } = await collect(runtime, logDir);
    expect(stdout).not.toContain("weekly_report_last_run");
    expect(codes).toEqual([`last_run_unreadable Cannot read ${join(logDir, LAST_RUN_FILE)}: EACCES`]);
  });

  test("follows no link, not even to a file of the account", async () => {
    const logDir = host.make(`linked-${runtime}`, 0o750, ACCOUNT.uid);
    host.put(`linked-${runtime}/target`, RUN, 0o600, ACCOUNT.uid);
    symlinkSync(join(logDir, "target"), join(logDir, LAST_RUN_FILE));
    const { stdout, codes } = await collect(runtime, logDir);
    expect(stdout).not.toContain("weekly_report_last_run");
    expect(codes).toEqual([`last_run_unreadable Cannot read ${join(logDir, LAST_RUN_FILE)}: ELOOP`]);
  });
});

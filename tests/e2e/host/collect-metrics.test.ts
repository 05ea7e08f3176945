import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type CollectArena, openCollectArena, TOKEN } from "../../metrics/support/dependencies.ts";
import { runningContainer } from "../../standins/docker-engine.ts";
import { startPing } from "../../standins/ping.ts";
import { until } from "../../support/until.ts";
import { gaugesOf } from "../../text/support/prometheus-parser.ts";
import { logLines, opsctl, startOpsctl, startProgram } from "../support/opsctl.ts";

const read = (arena: CollectArena) => readFileSync(join(arena.folder, "custom_metrics.prom"), "utf8");

function upOf(text: string): Record<string, number> {
  const rows = gaugesOf(text).filter(({ name }) => name === "opsctl_collector_up");
  return Object.fromEntries(rows.map(({ labels, value }) => [labels.source, value]));
}

const ALL_UP = { sockets: 1, proxy_memory: 1, hosting: 1, heartbeat: 1 };

describe.concurrent("opsctl collect-metrics that is well", () => {
  test("writes the file, and prints the same series with --stdout", async () => {
    await using arena = await openCollectArena();
    writeFileSync(join(arena.folder, "weekly_performance_reports.success"), "");
    const { env } = arena;
    const written = await opsctl(["collect-metrics", "--json"], { env });
    expect(written.exitCode, written.stderr).toBe(0);
    const file = join(arena.folder, "custom_metrics.prom");
    const result = { command: "collect-metrics", status: "success", exitCode: 0, file, skipped: null };
    expect(written.json).toMatchObject(result);
    expect(upOf(read(arena))).toEqual(ALL_UP);
    expect(statSync(file).mode & 0o777).toBe(0o644);

    const printed = await opsctl(["collect-metrics", "--stdout"], {
      env: { ...env, TEXTFILE_DIR: "/nowhere/at/all" },
    });
    expect(printed.exitCode, printed.stderr).toBe(0);
    const keys = (text: string) => gaugesOf(text).map(({ name, labels }) => JSON.stringify([name, labels]));
    expect(keys(printed.stdout)).toEqual(keys(read(arena)));
    expect(printed.stdout).toContain("\nproxy_memory_bytes 524288000\n");
    expect(printed.stdout).toContain('\nhosting_deploy_failed{project="loja"} 1\n');
  });
});

describe.concurrent("opsctl collect-metrics beside others", () => {
  test.each(["Docker 29.0", "Podman 5.4"] as const)("reads the proxy's memory from %s", async (kind) => {
    await using arena = await openCollectArena({ kind });
    const { exitCode, stdout, stderr } = await opsctl(["collect-metrics", "--stdout"], {
      env: arena.env,
    });
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain("\nproxy_memory_bytes 524288000\n");
    expect(arena.engine.unexpected).toEqual([]);
    arena.engine.containers.set("traefik", runningContainer({ state: "exited" }));
    const stopped = await opsctl(["collect-metrics", "--stdout"], { env: arena.env });
    expect(stopped.exitCode).toBe(1);
    expect(stopped.stdout).not.toContain("proxy_memory_bytes");
    expect(logLines(stopped.stderr).map(({ code }) => code)).toEqual(["docker_container_not_running"]);
  });

  test("lets one of two runs do the work, and says so", async () => {
    await using arena = await openCollectArena();
    arena.hosting.routes.projects.script = () => "hang";
    const first = await startOpsctl(["collect-metrics"], { env: arena.env });
    await until("the first run to ask the provider", () => arena.hosting.ledger.length > 0);
    // Stopped, it does not reach the end of its own patience while the second one starts.
    first.kill("SIGSTOP");
    const second = await opsctl(["collect-metrics", "--json"], { env: arena.env });
    expect(second.exitCode).toBe(0);
    expect(second.json).toMatchObject({ status: "success", skipped: "already_running", file: null });
    expect(existsSync(join(arena.folder, "custom_metrics.prom"))).toBe(false);
    first.kill("SIGKILL");
    await first.ended;
    arena.hosting.routes.projects.script = null;
    // The kernel has freed the lock of the run that was killed.
    expect((await opsctl(["collect-metrics"], { env: arena.env })).exitCode).toBe(0);
  });
});

describe.concurrent("opsctl collect-metrics that may fail", () => {
  test("reports to the ping how it ended, and never logs the ping's address", async () => {
    await using arena = await openCollectArena();
    const check = await startPing();
    const env = { ...arena.env, OPSCTL_PING_URL: `${check.url}/canary-uuid`, OPSCTL_LOG_LEVEL: "debug" };
    const collect = async (args: string[] = [], changed = {}) =>
      await opsctl(["collect-metrics", ...args], { env: { ...env, ...changed } });
    const ends = [
      await collect(),
      await collect(["--stdout"]),
      await collect([], { HOSTING_TOKEN: "wrong" }),
      await collect([], { TEXTFILE_DIR: "/nowhere/at/all" }),
      await collect([], { PROXY_CONTAINER: "/" }),
    ];
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1, 3, 3]);
    check.routes.ping.script = () => ({ status: 503 });
    expect((await collect()).exitCode).toBe(0);
    const paths = ["", "/fail", "/fail", "/fail", ""].map((end) => `/canary-uuid${end}`);
    expect(check.ledger.map(({ path }) => path)).toEqual(paths);
    for (const { stdout, stderr } of ends) expect(stdout + stderr).not.toContain("canary-uuid");
    await check.stop();
  });

  test("leaves out what fails, replaces the old file all the same, and ends with 1", async () => {
    await using arena = await openCollectArena();
    const { HOSTING_TOKEN: _, ...env } = arena.env;
    await opsctl(["collect-metrics"], { env: arena.env });
    expect(upOf(read(arena))).toEqual(ALL_UP);
    arena.engine.containers.clear();
    const failed = await opsctl(["collect-metrics"], { env: { ...env, PATH: "/nowhere" } });
    expect(failed.exitCode).toBe(1);
    expect(logLines(failed.stderr).map(({ source, code }) => [source, code])).toEqual([
      ["proxy_memory", "docker_container_missing"],
      ["hosting", "hosting_token_missing"],
      ["sockets", "sockets_unreadable"],
    ]);
    expect(upOf(read(arena))).toEqual({ sockets: 0, proxy_memory: 0, hosting: 0, heartbeat: 1 });
    expect(read(arena)).not.toMatch(/^(proxy_memory|tcp_|hosting_)/m);
  });
});

describe.concurrent("opsctl collect-metrics", () => {
  const CREATE = /or create it with mode 0755$/;
  const EXCHANGE = /no other account can exchange/;
  test.each<[string, string, string, string, RegExp]>([
    ["is not there", "inner $(id)", "true", "TEXTFILE_DIR_MISSING", CREATE],
    ["is a file", "inner", "touch inner", "TEXTFILE_DIR_MISSING", CREATE],
    ...["0775", "0757", "1777"].map((mode): [string, string, string, string, RegExp] => [
      ...([`has mode ${mode}`, "inner", `mkdir inner; chmod ${mode} inner`] as const),
      ...(["TEXTFILE_DIR_UNTRUSTED", EXCHANGE] as const),
    ]),
    [
      ...(["lies in a directory that others may write to", "inner", "mkdir inner; chmod 0775 ."] as const),
      ...(["TEXTFILE_DIR_UNTRUSTED", EXCHANGE] as const),
    ],
  ])("refuses a text-file directory that %s, and asks nobody", async (_what, name, make, code, hint) => {
    await using arena = await openCollectArena();
    const folder = mkdtempSync(join(arena.folder, "text-"));
    execFileSync("sh", ["-c", `umask 022; chmod 0755 .; ${make}`], { cwd: folder });
    const env = { ...arena.env, TEXTFILE_DIR: join(folder, name) };
    const { exitCode, json } = await opsctl(["collect-metrics", "--json"], { env });
    expect({ exitCode, json }).toMatchObject({ exitCode: 3, json: { status: "not_ready", error: { code } } });
    expect((json.error as { hint: string }).hint).toMatch(hint);
    expect(existsSync(join(folder, "inner $(id)"))).toBe(false);
    expect([...arena.engine.ledger, ...arena.hosting.ledger]).toEqual([]);
  });

  test("warns when the account has another number of projects than the setting says", async () => {
    await using arena = await openCollectArena();
    const run = (projects: string) =>
      opsctl(["collect-metrics"], { env: { ...arena.env, HOSTING_PROJECTS: projects } });
    expect(logLines((await run("2")).stderr)).toEqual([]);
    const { exitCode, stderr } = await run("16");
    expect([exitCode, logLines(stderr)]).toMatchObject([0, [{ projects: 2, expected: 16 }]]);
  });

  test("keeps the old file, and says so, where it cannot write", async () => {
    await using arena = await openCollectArena();
    const file = join(arena.folder, "custom_metrics.prom");
    mkdirSync(join(file, "inside"), { recursive: true });
    const { exitCode, json } = await opsctl(["collect-metrics", "--json"], { env: arena.env });
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ status: "failed", error: { code: "METRICS_FILE_UNWRITABLE" } });
    expect(readdirSync(file)).toEqual(["inside"]);
  });

  test("writes a file that everyone may read under a private umask", async () => {
    await using arena = await openCollectArena();
    const script = join(mkdtempSync(join(arena.folder, "bin-")), "run");
    writeFileSync(script, `#!/bin/sh\numask 077\nexec "$@"\n`);
    chmodSync(script, 0o755);
    const main = join(import.meta.dir, "../../../cli/main.ts");
    const words = [script, process.execPath, main, "collect-metrics"];
    const { exitCode, stderr } = await startProgram(words, { env: arena.env }).ended;
    expect(exitCode, stderr).toBe(0);
    expect(statSync(join(arena.folder, "custom_metrics.prom")).mode & 0o777).toBe(0o644);
    expect(readdirSync(arena.folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("never shows the token, whatever the provider answers", async () => {
    await using arena = await openCollectArena();
    arena.hosting.routes.projects.script = () => ({
      status: 403,
      json: { error: { message: `token ${TOKEN} is bad` } },
    });
    const env = { ...arena.env, OPSCTL_LOG_LEVEL: "debug" };
    const { stdout, stderr, exitCode } = await opsctl(["collect-metrics", "--stdout", "--json"], { env });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      metrics: expect.stringContaining("opsctl_collector_up"),
      file: null,
    });
    expect(stderr).toContain("hosting_http_403");
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  test("reads the token from a file that is closed to others, and refuses an open one", async () => {
    await using arena = await openCollectArena();
    const { HOSTING_TOKEN: _, ...rest } = arena.env;
    const env = { ...rest, OPSCTL_SECRETS_DIR: join(arena.folder, "secrets") };
    mkdirSync(env.OPSCTL_SECRETS_DIR);
    const secret = join(env.OPSCTL_SECRETS_DIR, "HOSTING_TOKEN");
    writeFileSync(secret, `${TOKEN}\n`, { mode: 0o600 });
    expect((await opsctl(["collect-metrics"], { env })).exitCode).toBe(0);
    chmodSync(secret, 0o644);
    const refused = await opsctl(["collect-metrics"], { env });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("SECRET_FILE_EXPOSED");
    expect(upOf(read(arena))).toEqual({ ...ALL_UP, hosting: 0 });
  });
});

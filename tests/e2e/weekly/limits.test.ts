import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startSilentPeer } from "../../standins/raw-peer.ts";
import { startPostgres } from "../../support/postgres.ts";
import { seedOwner } from "../../support/seed.ts";
import { closedBarrier } from "../support/barrier.ts";
import { openFixture } from "../support/fixture.ts";

// A time limit of the program ends each of these: the test sees that the process ends.
describe.concurrent("a service that never answers", () => {
  test("a vault's client is given up, and its children with it", async () => {
    await using fixture = await openFixture();
    const empty = join(fixture.folder, "no-secrets");
    mkdirSync(empty);
    const pidFile = join(fixture.folder, "pid");
    const path = join(fixture.folder, "vault-client");
    const hang = `#!/bin/sh\n[ "$1" = TRIGGER_SECRET ] || exec cat "${fixture.secretsDir}/$1"\nsleep 100000 &\necho $! > ${pidFile}\necho half-a-canary\nwait\n`;
    writeFileSync(path, hang, { mode: 0o700 });

    const ended = await fixture.weekly(["--json"], {
      env: { OPSCTL_SECRETS_COMMAND: path, OPSCTL_SECRETS_DIR: empty, PATH: process.env.PATH },
    });

    expect(ended.exitCode, ended.stdout).toBe(3);
    expect(ended.summary.error?.message).toContain("TRIGGER_SECRET");
    expect(ended.summary.error?.message).toContain("SECRET_COMMAND_FAILED");
    expect(ended.stdout + ended.stderr).not.toContain("canary");
    const child = Number(readFileSync(pidFile, "utf8"));
    expect(isRunning(child)).toBe(false);
    expect(fixture.requests()).toEqual([]);
  });

  test("a database that accepts and is silent is out of reach", async () => {
    await using fixture = await openFixture();
    const silent = await startSilentPeer();
    fixture.secret("DATABASE_URL", `postgres://u:canary-password@127.0.0.1:${silent.port}/app`);

    // A real run would wait for it.
    const ended = await fixture.weekly(["--json", "--dry-run"]);
    await silent.stop();

    expect(ended.exitCode, ended.stdout).toBe(3);
    expect(ended.summary.error?.code).toBe("DATABASE_UNREACHABLE");
    expect(silent.connections).toBeGreaterThan(0);
    expect(ended.stdout + ended.stderr).not.toContain("canary");
  });

  test("a gateway that is silent when a signal comes leaves the delivery unknown", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const sending = Promise.withResolvers<void>();
    fixture.gateway.routes.send.script = () => {
      sending.resolve();
      return { accept: "hang" };
    };

    const running = await fixture.start(["weekly", "--json"]);
    await sending.promise;
    running.kill("SIGTERM");
    const { exitCode, summary } = await running.ended;

    expect(exitCode).toBe(1);
    expect(summary).toMatchObject({
      error: { code: "RUN_INTERRUPTED" },
      whatsapp: { unknown: 1 },
      email: { sent: 0, skipped: 1 },
      heartbeat: "kept",
    });
    fixture.gateway.routes.send.script = null;
    const next = await fixture.weekly(["--json"]);
    expect(next.summary).toMatchObject({
      exitCode: 1,
      whatsapp: { sent: 0, unknown: 1 },
      email: { sent: 1 },
    });
    expect(fixture.gateway.routes.send.calls).toHaveLength(1);
  });

  test("a database that stops and starts again costs time, and no report", async () => {
    const server = await startPostgres({ inMemory: true });
    await using _ = { [Symbol.asyncDispose]: () => server.stop() };
    await using fixture = await openFixture({ server });
    for (let i = 0; i < 3; i += 1) await seedOwner(fixture.db.sql);
    const barrier = closedBarrier();
    const { onAnalyze } = fixture;
    fixture.onAnalyze = async (body) => {
      await barrier.pass();
      await onAnalyze(body);
    };

    const running = await fixture.start(["weekly", "--json"]);
    await barrier.reachedBy(running);
    await server.halt("fast");
    await server.resume();
    barrier.open();
    const ended = await running.ended;

    expect(ended.exitCode, ended.stdout).toBe(0);
    expect(ended.summary).toMatchObject({
      reports: { completed: 3, failed: 0 },
      whatsapp: { sent: 3 },
      email: { sent: 3 },
    });
  });

  test("a database that does not come back leaves the run's end to a signal", async () => {
    const server = await startPostgres({ inMemory: true });
    let isStopped = false;
    await using fixture = await openFixture({ server });
    await using _ = { [Symbol.asyncDispose]: async () => void (isStopped || (await server.stop())) };
    for (let i = 0; i < 3; i += 1) await seedOwner(fixture.db.sql);
    const barrier = closedBarrier();
    fixture.onAnalyze = () => barrier.pass();

    const running = await fixture.start(["weekly", "--json"]);
    await barrier.reachedBy(running);
    await fixture.db.sql.end({ timeout: 1 });
    await server.stop();
    isStopped = true;
    barrier.open();
    // It would wait for five minutes, and says so.
    await new Promise<void>((resolve) => {
      running.child.stderr!.on("data", (text: string) => void (text.includes("is away") && resolve()));
    });
    running.kill("SIGTERM");
    const ended = await running.ended;

    expect(ended.exitCode).toBe(1);
    expect(ended.summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      error: { code: "RUN_INTERRUPTED" },
      reports: { scopes: 3, completed: 0, failed: 3 },
      whatsapp: { sent: 0 },
      heartbeat: "kept",
    });
    expect(fixture.heartbeat.isOld()).toBe(true);
  });
});

function isRunning(pid: number): boolean {
  try {
    // A process that has ended and waits to be reaped counts as ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

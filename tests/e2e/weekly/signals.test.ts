import { describe, expect, test } from "bun:test";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listen } from "../../platform/support/wire.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { seedOwner, seedOwners } from "../../support/seed.ts";
import { type Barrier, closedBarrier } from "../support/barrier.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { startProgram } from "../support/opsctl.ts";

const OWNERS = 8;

/** Stops the run in its middle, with all that it has in flight waiting for the application. */
function holdAnalysis(fixture: Fixture, inFlight = 1): Barrier {
  const analyze = fixture.onAnalyze;
  const barrier = closedBarrier(inFlight);
  let calls = 0;
  fixture.onAnalyze = async (body) => {
    calls += 1;
    if (calls > 6) await barrier.pass();
    await analyze(body);
  };
  return barrier;
}

describe.concurrent("a signal in the middle of opsctl weekly", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: begins nothing new, finishes what is in flight, and says so",
    async (signal) => {
      await using fixture = await openFixture({ editorials: true });
      await seedOwners(fixture.db.sql, OWNERS);
      const barrier = holdAnalysis(fixture, 2);

      const running = await fixture.start(["weekly", "--json", "--concurrency", "2"]);
      await barrier.reachedBy(running);
      const callsBefore = fixture.application.ledger.length;
      running.kill(signal);
      await logged(running, "RUN_INTERRUPTED");
      barrier.open();
      const ended = await running.ended;

      expect({ exitCode: ended.exitCode, signal: ended.signal }).toEqual({ exitCode: 1, signal: null });
      expect(ended.summary).toMatchObject({
        status: "failed",
        exitCode: 1,
        error: { code: "RUN_INTERRUPTED" },
        editorials: { status: "skipped" },
        heartbeat: "kept",
      });
      expect(fixture.heartbeat.isOld()).toBe(true);
      expect(fixture.application.ledger.length).toBe(callsBefore);
      const open = await fixture.db.sql`
      select status from weekly_performance_reports where status = 'running'
      union all select status from weekly_performance_deliveries where status in ('running', 'unknown')`;
      expect([...open]).toEqual([]);

      const next = await fixture.weekly(["--json"]);
      expect(next.exitCode, next.stdout).toBe(0);
      expect(next.summary.heartbeat).toBe("written");
      expect(new Set(fixture.gateway.accepted.map(({ number }) => number)).size).toBe(OWNERS);
      expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([OWNERS, OWNERS]);
    },
  );

  test("a second signal ends the process at once", async () => {
    await using fixture = await openFixture();
    await seedOwners(fixture.db.sql, OWNERS);
    const barrier = holdAnalysis(fixture);
    const running = await fixture.start(["weekly", "--json"]);
    await barrier.reachedBy(running);
    running.kill("SIGTERM");
    await logged(running, "RUN_INTERRUPTED");
    running.kill("SIGTERM");
    const { exitCode } = await running.ended;
    barrier.open();
    expect(exitCode).not.toBe(0);
    expect(fixture.heartbeat.isOld()).toBe(true);
  });
});

describe.concurrent("a signal before opsctl weekly has begun", () => {
  test("a signal while a vault's client keeps the run waiting: one line of JSON, exit 1", async () => {
    await using fixture = await openFixture();
    rmSync(join(fixture.secretsDir, "TRIGGER_SECRET"));
    const OPSCTL_SECRETS_COMMAND = join(fixture.folder, "client");
    writeFileSync(OPSCTL_SECRETS_COMMAND, "#!/bin/sh\nkill -TERM $PPID\nexec sleep 5\n", { mode: 0o755 });

    const ended = await fixture.weekly(["--json"], { env: { OPSCTL_SECRETS_COMMAND } });

    expect(ended.summary).toMatchObject({
      exitCode: 1,
      status: "failed",
      error: { code: "RUN_INTERRUPTED" },
    });
    expect({ exitCode: ended.exitCode, signal: ended.signal }).toEqual({ exitCode: 1, signal: null });
    expect(fixture.heartbeat.isOld()).toBe(true);
  });

  test("a signal while the database does not answer: one line of JSON, exit 1", async () => {
    await using fixture = await openFixture();
    const connected = Promise.withResolvers<void>();
    await using silent = await listen(() => connected.resolve());
    fixture.secret("DATABASE_URL", `postgres://service@127.0.0.1:${silent.port}/app`);

    const running = await fixture.start(["weekly", "--json"]);
    await connected.promise;
    running.kill("SIGTERM");
    const ended = await running.ended;

    expect(ended.summary).toMatchObject({
      exitCode: 1,
      status: "failed",
      error: { code: "RUN_INTERRUPTED" },
    });
    expect({ exitCode: ended.exitCode, signal: ended.signal }).toEqual({ exitCode: 1, signal: null });
    expect(fixture.heartbeat.isOld()).toBe(true);
  });
});

/** Waits until the log of a process has this text. */
async function logged(
  { child }: { child: { stderr: NodeJS.ReadableStream | null } },
  text: string,
): Promise<void> {
  let log = "";
  await new Promise<void>((resolve) => {
    child.stderr!.on("data", (part) => {
      log += part;
      if (log.includes(text)) resolve();
    });
  });
}

describe.concurrent("standard output that takes nothing", () => {
  test("standard output on a full disk: the run is done, and its end is no success", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const full = openSync("/dev/full", "w");

    const running = await fixture.start(["weekly", "--json"], { stdout: full });
    closeSync(full);
    const { exitCode, stderr } = await running.ended;

    expect(exitCode).toBe(1);
    expect(stderr).toContain("OUTPUT_FAILED");
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([1, 1]);
  });

  test("standard output that was closed before the start: the run is done, and its end is no success", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const script = 'exec "$0" weekly --json >&-';
    const { ended } = startProgram(["/bin/sh", "-c", script, await opsctlBinary()], { env: fixture.env });
    const { exitCode, stderr } = await ended;
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("OUTPUT_FAILED");
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([1, 1]);
  });

  test("a reader that closes standard output in the middle does not end the run", async () => {
    await using fixture = await openFixture();
    await seedOwners(fixture.db.sql, OWNERS);
    const barrier = holdAnalysis(fixture);
    const running = await fixture.start(["weekly", "--json"]);
    await barrier.reachedBy(running);
    running.child.stdout!.destroy();
    barrier.open();
    const { signal } = await running.ended;
    expect(signal).toBe(null);
    expect([fixture.gateway.accepted.length, fixture.email.accepted.length]).toEqual([OWNERS, OWNERS]);
  });
});

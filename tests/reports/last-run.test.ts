import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../lib/host/heartbeat-file-name.ts";
import { LAST_RUN_FILE } from "../../lib/last-run/file-name.ts";
import { ownProcessMark } from "../../lib/last-run/process-mark.ts";
import { findLastRun, findWaiting } from "../../lib/reports/last-run.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function logDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-last-run-"));
  folders.push(folder);
  return folder;
}

const RUN = {
  ...{
    status: "failed",
    runId: "run-1",
    begunAt: "2026-11-23T11:00:02Z",
    finishedAt: "2026-11-23T11:14:40Z",
  },
  window: { start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z", week: "2026-11-16" },
  ...{ retryableUntil: null, error: null, week: null, announcement: null },
  failures: [{ step: "whatsapp", code: "sem_instancia_gateway" }],
  process: { host: "vps-1", pid: 1, startTicks: 1 },
};

function withRun(changes: object): string {
  const folder = logDir();
  writeFileSync(join(folder, LAST_RUN_FILE), `${JSON.stringify({ ...RUN, ...changes })}\n`);
  return folder;
}

/** That week with something open. */
const open = (week: string) => ({ week, isClean: false });

describe("findLastRun()", () => {
  test("tells how the run of this week ended, with its first code", () => {
    expect(findLastRun(withRun({}), open("2026-11-16"))).toEqual({
      status: "found",
      run: {
        ...{ status: "failed", runId: "run-1", host: "vps-1", code: "sem_instancia_gateway" },
        ...{ begunAt: "2026-11-23T11:00:02Z", finishedAt: "2026-11-23T11:14:40Z", waiting: null },
        ...{ beside: null, heartbeat: null },
      },
    });
    const brokenOff = withRun({ error: { code: "DATABASE_LOST" } });
    expect(findLastRun(brokenOff, open("2026-11-16"))).toMatchObject({ run: { code: "DATABASE_LOST" } });
  });

  test("names what failed the run, and not the failure of a single connection", () => {
    const token = { step: "social", code: "APP_HTTP_401" };
    const codeOf = (changes: object) => {
      const found = findLastRun(withRun(changes), open("2026-11-16"));
      return found.status === "found" ? found.run.code : found;
    };
    const failures = [
      token,
      { step: "whatsapp", code: "recipient_phone_missing" },
      { step: "editorials", code: "WORKER_HTTP_401" },
    ];
    expect(codeOf({ failures })).toBe("WORKER_HTTP_401");
    expect(codeOf({ status: "success", failures: [token] })).toBeNull();
    expect(codeOf({ failures: [null, 1, "x", { code: 2 }] })).toBeNull();
  });

  test("knows a run that goes on from one that was killed", () => {
    const killed = {
      status: "running",
      finishedAt: null,
      process: { host: hostname(), pid: 1, startTicks: -1 },
    };
    expect(findLastRun(withRun(killed), open("2026-11-16"))).toMatchObject({
      run: { status: "ended", finishedAt: null },
    });
    const elsewhere = { ...killed, process: { ...killed.process, host: "another-host" } };
    expect(findLastRun(withRun(elsewhere), open("2026-11-16"))).toMatchObject({ run: { status: "running" } });
  });

  test("tells of a run that waits before it begins, in the week of this host's clock", () => {
    const waiting = {
      waitsFor: "database",
      code: "57P03",
      since: "2026-11-30T11:00:03Z",
      until: "2026-11-30T11:05:03Z",
    };
    const folder = withRun({ status: "running", finishedAt: null, process: ownProcessMark(), waiting });
    expect(findLastRun(folder, open("2026-11-23"))).toMatchObject({
      run: { status: "running", begunAt: null, finishedAt: null, waiting },
    });
    expect(findLastRun(folder, open("2026-11-16"))).toEqual({ status: "none", hasHostWorked: true });
    expect(findWaiting(folder)).toMatchObject(waiting);
    const killed = withRun({ status: "running", waiting, process: { ...ownProcessMark(), startTicks: -1 } });
    expect(findLastRun(killed, open("2026-11-23"))).toMatchObject({ run: { status: "ended", waiting } });
    expect([findWaiting(killed), findWaiting(withRun({})), findWaiting(logDir())]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("has nothing to tell without a file, and of another week", () => {
    const none = { status: "none" as const, hasHostWorked: false };
    expect(findLastRun(logDir(), open("2026-11-16"))).toEqual(none);
    expect(findLastRun(join(logDir(), "none"), open("2026-11-16"))).toEqual(none);
    const worked = { ...none, hasHostWorked: true };
    expect(findLastRun(withRun({}), open("2026-11-09"))).toEqual(worked);
    expect(findLastRun(withRun({ window: null }), open("2026-11-16"))).toEqual(worked);
  });

  test("a run that only missed its settings has nothing to tell of a week that others have made", () => {
    const refused = {
      ...{ status: "not_ready", begunAt: null, window: null, week: null },
      ...{ error: { code: "CONFIG_INVALID" }, refusedAt: "2026-11-23T11:00:02Z" },
    };
    const clean = { week: "2026-11-16", isClean: true };
    expect(findLastRun(withRun(refused), clean)).toEqual({ status: "none", hasHostWorked: false });
    expect(findLastRun(withRun(refused), { ...clean, isClean: false })).toMatchObject({
      run: { status: "not_ready", code: "CONFIG_INVALID" },
    });
    const others = [{ begunAt: "2026-11-16T11:00:00Z" }, { error: { code: "DATABASE_UNREACHABLE" } }];
    for (const other of others)
      expect(findLastRun(withRun({ ...refused, ...other }), clean)).toMatchObject({ status: "found" });
  });

  test("a heartbeat that is not there any more proves no success", () => {
    const folder = withRun({ status: "success", heartbeat: "written" });
    const heartbeat = () => findLastRun(folder, open("2026-11-16"));
    expect(heartbeat()).toMatchObject({ run: { heartbeat: "gone" } });
    writeFileSync(join(folder, HEARTBEAT_FILE), "{}");
    expect(heartbeat()).toMatchObject({ run: { heartbeat: "written" } });
    const kept = withRun({ status: "success", heartbeat: "kept" });
    expect(findLastRun(kept, open("2026-11-16"))).toMatchObject({ run: { heartbeat: "kept" } });
  });

  test("says what keeps it from reading the file", () => {
    const [directory, link, torn] = [logDir(), logDir(), logDir()];
    mkdirSync(join(directory, LAST_RUN_FILE));
    symlinkSync("/etc/passwd", join(link, LAST_RUN_FILE));
    writeFileSync(join(torn, LAST_RUN_FILE), '{"status":');
    for (const folder of [directory, link, torn])
      expect(findLastRun(folder, open("2026-11-16"))).toMatchObject({ status: "unreadable" });
  });
});

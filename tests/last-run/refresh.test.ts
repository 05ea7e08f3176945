import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../lib/last-run/file-name.ts";
import type { LastRun } from "../../lib/last-run/last-run.ts";
import { hasEnded, ownProcessMark } from "../../lib/last-run/process-mark.ts";
import { refreshLastRun } from "../../lib/last-run/refresh.ts";
import { writeLastRun } from "../../lib/last-run/write.ts";
import { WINDOW, weekOf } from "../weekly/announce/support.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-refresh-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const DOUBT = weekOf({ email: { unknown: 1, sent: 9 } });
const RUN: LastRun = {
  status: "failed",
  runId: "r-1",
  begunAt: "2026-11-23T11:00:00Z",
  window: WINDOW,
  retryableUntil: null,
  error: null,
  week: DOUBT,
  process: ownProcessMark(),
  announcement: { week: WINDOW.week, fingerprint: "f", startsAt: "2026-11-23T11:20:00Z" },
  waiting: null,
  sent: null,
  refusedAt: null,
  failures: [{ step: "email", code: "delivery_unknown" }],
};
const read = () => JSON.parse(readFileSync(join(folder, LAST_RUN_FILE), "utf8"));
const settled = async () => weekOf();

describe("refreshLastRun()", () => {
  test("replaces what is open, and nothing of how the run ended", async () => {
    writeLastRun(folder, RUN);
    const asked: object[] = [];
    const status = await refreshLastRun(folder, async (window) => {
      asked.push(window);
      return weekOf();
    });
    expect(status).toEqual({ status: "updated" });
    expect(asked).toEqual([WINDOW]);
    expect(read()).toEqual({ ...RUN, week: weekOf() });
  });

  test("makes no file where there is none, and asks nothing", async () => {
    const never = () => Promise.reject(new Error("asked"));
    expect(await refreshLastRun(folder, never)).toEqual({ status: "left" });
    writeLastRun(folder, { ...RUN, window: null });
    expect(await refreshLastRun(folder, never)).toEqual({ status: "left" });
    expect(readdirSync(folder)).toEqual([LAST_RUN_FILE]);
  });

  test.each<[string, Partial<LastRun>]>([
    ["has begun", { status: "running", runId: "r-2" }],
    ["has begun and ended", { status: "success", runId: "r-2" }],
  ])("leaves the file to a run that %s meanwhile", async (_name, changes) => {
    writeLastRun(folder, RUN);
    const meanwhile = async () => {
      writeLastRun(folder, { ...RUN, ...changes });
      return weekOf();
    };
    expect(await refreshLastRun(folder, meanwhile)).toEqual({ status: "left" });
    expect(read()).toEqual({ ...RUN, ...changes });
  });

  test("says why it could not, and leaves what is there", async () => {
    mkdirSync(join(folder, LAST_RUN_FILE));
    expect(await refreshLastRun(folder, settled)).toEqual({ status: "failed", code: "ENOTFILE" });
    expect(await refreshLastRun(join(folder, "missing"), settled)).toEqual({ status: "left" });
  });
});

describe("hasEnded()", () => {
  const own = ownProcessMark();
  test.each([
    ["this process", own, false],
    ["a number that another process has now", { ...own, startTicks: (own.startTicks ?? 0) + 1 }, true],
    ["a number that no process has", { ...own, pid: 4_194_999 }, true],
    ["another host", { ...own, host: "another", pid: 4_194_999 }, false],
    ["a host that showed no times", { ...own, startTicks: null }, false],
  ])("%s", (_name, mark, ended) => {
    expect(hasEnded(mark)).toBe(ended);
  });
});

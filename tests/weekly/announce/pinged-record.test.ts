import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CommandContext } from "../../../cli/framework/command.ts";
import { openPingEnd } from "../../../cli/wiring/ping.ts";
import { pingedRecord } from "../../../lib/weekly/announce/pinged-record.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { type PingStandIn, startPing } from "../../standins/ping.ts";
import { silentLog } from "../../support/silent-log.ts";
import { failedWith, notReady, START, summaryOf } from "./support.ts";

let check: PingStandIn;
beforeEach(async () => {
  check = await startPing();
});
afterEach(async () => await check.stop());

/** Ends a run, twice, as one does that breaks down after its end. */
async function ended(summary: WeeklySummary, { isWhole = true, timeoutMs = 10_000 } = {}) {
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (msg: string, fields?: object) => void warned.push([msg, fields]) };
  const context = { env: { OPSCTL_PING_URL: `${check.url}/canary?rid=1` }, log };
  const ping = await openPingEnd(context as unknown as CommandContext, { timeoutMs });
  const begun: unknown[] = [];
  const inner = {
    sentBefore: () => ({ whatsapp: 0, lost: 0 }),
    wait() {},
    begin: (start: unknown) => void begun.push(start),
    end: async (end: WeeklySummary) => ({ ...end, announced: "none" as const }),
  };
  const record = pingedRecord(inner, { isWhole, ping });
  record.begin(START);
  expect(begun).toEqual([START]);
  const result = await record.end(summary);
  await record.end(summary);
  return { result, warned, paths: check.ledger.map(({ path }) => path) };
}

describe("pingedRecord()", () => {
  test("tells a green end once, and leaves the summary as it is", async () => {
    const { result, paths } = await ended(summaryOf());
    expect(paths).toEqual(["/canary?rid=1"]);
    expect(result).toEqual({ ...summaryOf(), announced: "none" });
  });

  test.each([
    ["failed", failedWith([{ step: "whatsapp", code: "gateway_http_500" }])],
    ["could not begin", notReady("DATABASE_UNREACHABLE")],
  ])("tells a red end: it %s", async (_how, summary) => {
    expect((await ended(summary)).paths).toEqual(["/canary/fail?rid=1"]);
  });

  test("tells nothing of a run that was refused, or left something out", async () => {
    expect((await ended(summaryOf({ status: "refused", exitCode: 4 }))).paths).toEqual([]);
    expect((await ended(summaryOf(), { isWhole: false })).paths).toEqual([]);
  });

  test.each(["hang", "drop", { status: 500 }] as const)(
    "is not in the way when it fails: %p",
    async (fault) => {
      check.routes.ping.script = () => fault;
      const { result, warned } = await ended(summaryOf());
      expect(result.exitCode).toBe(0);
      expect(warned).toEqual([["The ping of OPSCTL_PING_URL fails", { code: expect.any(String) }]]);
    },
  );
});

describe("openPingEnd()", () => {
  test("goes on without an address that cannot be used, and says so without quoting it", async () => {
    const warned: string[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => void warned.push(JSON.stringify(line)) };
    const env = { OPSCTL_PING_URL: "ftp://hc.example/canary" };
    const ping = await openPingEnd({ env, log });
    await ping(true);
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain("CONFIG_INVALID");
    expect(warned[0]).not.toContain("canary");
  });
});

/** The record of a run against a real directory and a webhook that answers, refuses, hangs or is not there. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { type LastRun, parseLastRun } from "../../../lib/last-run/last-run.ts";
import { ownProcessMark } from "../../../lib/last-run/process-mark.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { weekOf as weekOfRun } from "../../../lib/reports/last-run.ts";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";
import { weekFingerprint } from "../../../lib/weekly/announce/render-alert.ts";
import {
  createRunRecord,
  type RecordDependencies,
  type RunRecord,
} from "../../../lib/weekly/announce/run-record.ts";
import type { Failure, WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { type StandIn, startStandIn } from "../../standins/standin.ts";
import { startTcpProxy } from "../../standins/tcp-proxy.ts";
import { freePort } from "../../support/free-port.ts";
import { recordingLog } from "../support/weekly-fixture.ts";
import { FINISHED_AT, failedWith, notReady, START, summaryOf, WEEK, weekOf } from "./support.ts";

const SECRET = "canary-webhook-5d1e";
const GATEWAY = failedWith([{ step: "whatsapp", code: "gateway_http_500" }]);

let webhook: StandIn<"alerts">;
beforeAll(async () => {
  webhook = await startStandIn(
    {
      alerts: {
        method: "POST",
        pattern: /^\/webhook$/,
        handle: async ({ headers, body }) => {
          if (headers["x-webhook-secret"] !== SECRET) return { status: 401, json: {} };
          const parsed = parseAlerts(body);
          if ("invalid" in parsed) return { status: 422, json: parsed };
          const alerts = parsed.alerts.map(({ fingerprint }) => ({ fingerprint, whatsapp: "queued" }));
          return { status: 200, json: { accepted: alerts.length, alerts } };
        },
      },
    },
    { notFound: () => ({ status: 404, json: {} }) },
  );
});
afterAll(() => webhook.stop());

let folder: string;
let log: ReturnType<typeof recordingLog>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-record-"));
  log = recordingLog();
  webhook.routes.alerts.calls.length = 0;
  webhook.routes.alerts.script = null;
  return () => rmSync(folder, { recursive: true, force: true });
});

const path = () => join(folder, LAST_RUN_FILE);
const read = (): LastRun => parseLastRun(readFileSync(path(), "utf8"))!;
const codes = () => log.lines.map(({ fields }) => (fields as { code?: string }).code);
const posts = () => webhook.routes.alerts.calls.map(({ body }) => (body as { status: string }).status);

/** A record whose pauses take no time. */
function open(changes: Partial<RecordDependencies> = {}): RunRecord {
  let nowMs = 0;
  return createRunRecord({
    isWhole: true,
    logDir: folder,
    webhook: {
      url: async () => new URL(`${webhook.url}/webhook`),
      findSecret: async () => new Secret(SECRET),
    },
    log,
    host: "vps-1",
    interrupt: new AbortController().signal,
    limitsMs: { usual: 10_000, interrupted: 4_000 },
    nowMs: () => Date.parse("2026-11-23T11:30:00Z"),
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    ...changes,
  });
}

/** A whole run: its beginning and its end. */
async function runTo(summary: WeeklySummary, changes: Partial<RecordDependencies> = {}) {
  const record = open(changes);
  record.begin(START);
  return await record.end(summary);
}

const WAIT = { version: START.version, runId: START.runId, code: "57P03", limitMs: 300_000 };

describe("the record of a run that waits for the database before it can begin", () => {
  const waiting = {
    waitsFor: "database",
    code: "57P03",
    since: "2026-11-23T11:30:00.000Z",
    until: "2026-11-23T11:35:00.000Z",
  };

  test("says so, since when and until when, and keeps what the run before has left", async () => {
    open().wait(WAIT);
    expect(read()).toMatchObject({
      status: "running",
      runId: WAIT.runId,
      begunAt: null,
      window: null,
      waiting,
    });
    await runTo(GATEWAY);
    const before = read();
    open().wait(WAIT);
    const { begunAt, window, week, retryableUntil, announcement } = before;
    expect(announcement).not.toBeNull();
    const kept = { begunAt, window, week, retryableUntil, announcement };
    expect(read()).toMatchObject({
      status: "running",
      error: null,
      waiting,
      process: { pid: process.pid },
      ...kept,
    });
  });

  test("waits no longer once it begins, and when it ends without having begun", async () => {
    const record = open();
    record.wait(WAIT);
    record.begin(START);
    expect(read()).toMatchObject({ status: "running", begunAt: START.startedAt, waiting: null });
    const inVain = open();
    inVain.wait(WAIT);
    await inVain.end(notReady("DATABASE_UNREACHABLE"));
    expect(read()).toMatchObject({
      status: "not_ready",
      error: { code: "DATABASE_UNREACHABLE" },
      waiting: null,
    });
  });

  test("leaves no trace when it is refused outside Monday", async () => {
    const refused = summaryOf({ status: "refused", exitCode: 4 });
    const first = open();
    first.wait(WAIT);
    await first.end(refused);
    expect(existsSync(path())).toBe(false);
    await runTo(summaryOf());
    const before = read();
    const second = open();
    second.wait(WAIT);
    second.wait(WAIT);
    await second.end(refused);
    expect(read()).toEqual(before);
  });

  test("writes nothing for a part of a run, and where another run goes on", () => {
    open({ isWhole: false }).wait(WAIT);
    expect(existsSync(path())).toBe(false);
    open().begin(START);
    const before = readFileSync(path(), "utf8");
    open({ process: { ...ownProcessMark(), pid: 1, startTicks: 7 } }).wait({ ...WAIT, runId: "other" });
    expect(readFileSync(path(), "utf8")).toBe(before);
  });
});

describe("the record of a run", () => {
  test("is `running` from its beginning, which is what a kill leaves", () => {
    open().begin(START);
    expect(read()).toMatchObject({
      status: "running",
      runId: START.runId,
      begunAt: START.startedAt,
      window: { week: WEEK },
      retryableUntil: START.retryableUntil,
      week: null,
      process: { pid: process.pid },
      announcement: null,
    });
    expect(statSync(path()).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual([LAST_RUN_FILE]);
  });

  test("is the summary at its end, in ids and codes", async () => {
    const error = { code: "APP_HTTP_401", message: "words for people", hint: "words for people" };
    const failure = { step: "email" as const, code: "x", deliveryId: "d-1", providerMessageId: "p-1" };
    const drained = { ...GATEWAY.editorials, reasonStopped: "words of a peer", cursor: "words of a peer" };
    await runTo(failedWith([failure], { error, editorials: drained }));
    const file = readFileSync(path(), "utf8");
    expect(JSON.parse(file)).toMatchObject({
      command: "weekly",
      status: "failed",
      exitCode: 1,
      finishedAt: FINISHED_AT,
      error: { code: "APP_HTTP_401" },
      failures: [failure],
      week: weekOf(),
      announced: "firing",
      begunAt: START.startedAt,
    });
    expect(file).not.toContain("words");
    expect(file.split("\n")).toHaveLength(2);
  });

  test("stays below 64 KiB, however much failed", async () => {
    const id = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
    const failure = {
      step: "email" as const,
      code: "x".repeat(200),
      tenantId: id,
      providerMessageId: "p".repeat(900),
    };
    await runTo(failedWith(Array(100).fill(failure)));
    expect(statSync(path()).size).toBeLessThanOrEqual(65_536);
    expect(read()).toMatchObject({ status: "failed", failuresTruncated: true });
  });

  test("of a run that was not ready keeps when one last began", async () => {
    await runTo(summaryOf());
    expect(await open().end(notReady("DATABASE_UNREACHABLE"))).toMatchObject({ announced: "firing" });
    expect(read()).toMatchObject({
      ...{ status: "not_ready", begunAt: START.startedAt, window: null, week: null },
      refusedAt: "2026-11-23T11:30:00.000Z",
    });
  });

  test("of a run that was interrupted before it began knows when it ended, and so the week", async () => {
    await open().end({ ...notReady("RUN_INTERRUPTED"), status: "failed", exitCode: 1 });
    const run = read();
    expect(run).toMatchObject({ status: "failed", window: null, refusedAt: "2026-11-23T11:30:00.000Z" });
    expect(weekOfRun(run)?.week).toBe(WEEK);
  });

  test("of a run that broke down knows the week from its beginning", async () => {
    await runTo({ ...notReady("INTERNAL_ERROR"), status: "failed", exitCode: 1 });
    expect(read()).toMatchObject({
      status: "failed",
      window: { week: WEEK },
      error: { code: "INTERNAL_ERROR" },
    });
    expect(webhook.routes.alerts.calls[0]!.body).toMatchObject({ labels: { week: WEEK } });
  });

  test.each([
    ["a run that left something out", { isWhole: false }, summaryOf({ status: "failed", exitCode: 1 })],
    ["a refusal on another day", {}, summaryOf({ status: "refused", exitCode: 4 })],
  ])("is not made for %s, and nobody is told", async (_name, changes, summary) => {
    const record = open(changes);
    if (summary.status !== "refused") record.begin(START);
    expect(await record.end(summary)).toEqual({ ...summary, announced: "none" });
    expect((await open({ ...changes, webhook: null }).end(summary)).announced).toBe("off");
    expect([readdirSync(folder), posts()]).toEqual([[], []]);
  });
});

describe("announcing", () => {
  test("is off without a webhook, and the record is kept", async () => {
    expect(await runTo(GATEWAY, { webhook: null })).toMatchObject({ announced: "off", exitCode: 1 });
    expect(read()).toMatchObject({ status: "failed", announced: "off", announcement: null });
  });

  test("fires for each failed run with the first one's start, and resolves with the next success, once", async () => {
    expect((await runTo(GATEWAY)).announced).toBe("firing");
    const first = { week: WEEK, fingerprint: weekFingerprint(WEEK), startsAt: FINISHED_AT };
    expect(read().announcement).toEqual(first);
    const later = failedWith(GATEWAY.failures, { finishedAt: "2026-11-23T15:00:00Z" });
    expect((await runTo(later)).announced).toBe("firing");
    expect(read().announcement).toEqual(first);
    expect((await runTo(summaryOf())).announced).toBe("resolved");
    expect(read().announcement).toBeNull();
    expect((await runTo(summaryOf())).announced).toBe("none");

    const bodies = webhook.routes.alerts.calls.map(({ body }) => body as Record<string, unknown>);
    expect(posts()).toEqual(["firing", "firing", "resolved"]);
    expect(new Set(bodies.map(({ fingerprint }) => fingerprint))).toEqual(new Set([first.fingerprint]));
    expect(new Set(bodies.map(({ startsAt }) => startsAt))).toEqual(new Set([FINISHED_AT]));
  });

  test("is not resolved by another host, nor by a success of another week", async () => {
    await runTo(GATEWAY);
    const elsewhere = mkdtempSync(join(folder, "other-host-"));
    expect((await runTo(summaryOf(), { logDir: elsewhere })).announced).toBe("none");
    const next = { ...START, window: { ...START.window, week: "2026-11-23" } };
    expect((await runTo(summaryOf(next))).announced).toBe("none");
    expect(posts()).toEqual(["firing"]);
  });

  test("keeps the announcement while the next run goes on, and through one that fails before it begins", async () => {
    await runTo(GATEWAY);
    const held = read().announcement;
    open().begin(START);
    expect(read()).toMatchObject({ status: "running", announcement: held });
    await open().end(notReady("CONFIG_INVALID"));
    expect(read().announcement).toEqual(held);
    expect((await runTo(summaryOf())).announced).toBe("resolved");
  });

  test("names the week by the host's clock when the database could not", async () => {
    expect((await open().end(notReady("DATABASE_UNREACHABLE"))).announced).toBe("firing");
    expect(webhook.routes.alerts.calls[0]!.body).toMatchObject({
      labels: { week: WEEK },
      fingerprint: weekFingerprint(WEEK),
    });
    expect((await runTo(summaryOf())).announced).toBe("resolved");
  });

  test("happens once, also when an exception ends the process afterwards", async () => {
    const record = open();
    record.begin(START);
    const ends = await Promise.all([record.end(GATEWAY), record.end(notReady("INTERNAL_ERROR"))]);
    expect(ends.map(({ announced }) => announced)).toEqual(["firing", "firing"]);
    expect(posts()).toEqual(["firing"]);
    expect(read()).toMatchObject({ status: "failed", error: null });
  });

  test("is written before it is told: a kill meanwhile leaves verdict and announcement", async () => {
    let seen: LastRun | undefined;
    webhook.routes.alerts.script = () => {
      seen = read();
      return undefined;
    };
    await runTo(GATEWAY);
    expect(seen).toMatchObject({ status: "failed", announcement: { week: WEEK } });
  });
});

/** What may be wrong with the webhook: whether the alert may have been taken, and what the log says. */
const TROUBLES: [
  name: string,
  script: Parameters<StandIn<"alerts">["routes"]["alerts"]["next"]>[0],
  mayBeTaken: boolean,
  cause: string,
][] = [
  ["refuses the secret", { status: 401, json: {} }, false, "http_401"],
  ["takes no such body", { status: 422, json: {} }, false, "http_422"],
  ["is full", { status: 503, json: { error: { code: "state_unavailable" } } }, false, "http_503"],
  ["is flooded", { status: 429 }, false, "http_429"],
  ["breaks down", { status: 500, text: "<html>" }, true, "http_500"],
  ["drops the connection", "drop", true, "connection_lost"],
  ["takes it and drops the connection", { accept: "drop" }, true, "connection_lost"],
  ["is another program", "not_json", true, "answer_unreadable"],
  [
    "names another alert",
    { status: 200, json: { alerts: [{ fingerprint: "other" }] } },
    true,
    "answer_unreadable",
  ],
  ["never answers", "hang", true, "timeout"],
];

describe("a webhook that", () => {
  test.each(TROUBLES)("%s changes nothing but `announced`", async (_name, script, mayBeTaken, cause) => {
    webhook.routes.alerts.script = () => script;
    const limitsMs = { usual: cause === "timeout" ? 300 : 10_000, interrupted: 1 };
    const summary = await runTo(GATEWAY, { limitsMs });
    expect(summary).toEqual({ ...GATEWAY, announced: "failed" });
    expect(read().announcement === null).toBe(!mayBeTaken);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]!.fields).toMatchObject({ code: "ANNOUNCE_FAILED", cause });
    expect(JSON.stringify(log.lines)).not.toContain(SECRET);
    // Only what provably was not taken and may be over soon is tried again, and not for longer than ten seconds.
    const isRepeated = cause === "http_503" || cause === "http_429";
    expect(posts()).toHaveLength(isRepeated ? 5 : 1);
  });

  test("was told before and refuses now keeps the first announcement", async () => {
    await runTo(GATEWAY);
    const held = read().announcement;
    webhook.routes.alerts.script = () => ({ status: 401 });
    await runTo(failedWith(GATEWAY.failures, { finishedAt: "2026-11-23T15:00:00Z" }));
    expect(read().announcement).toEqual(held);
    expect((await runTo(summaryOf())).announced).toBe("failed");
    expect(read().announcement).toEqual(held);
    webhook.routes.alerts.script = null;
    expect((await runTo(summaryOf())).announced).toBe("resolved");
  });

  test("is full for a moment takes it a moment later", async () => {
    webhook.routes.alerts.next({ status: 503 }, { status: 503 });
    expect((await runTo(GATEWAY)).announced).toBe("firing");
    expect(posts()).toHaveLength(3);
  });

  test("is not there", async () => {
    const url = async () => new URL(`http://127.0.0.1:${await freePort()}/webhook`);
    const findSecret = async () => new Secret(SECRET);
    const summary = await runTo(GATEWAY, { webhook: { url, findSecret } });
    expect(summary).toEqual({ ...GATEWAY, announced: "failed" });
    expect(read().announcement).toBeNull();
    expect(log.lines[0]!.fields).toMatchObject({ code: "ANNOUNCE_FAILED", cause: "unreachable" });
  });

  test("restarts takes it a moment later", async () => {
    const proxy = await startTcpProxy(Number(new URL(webhook.url).port));
    const url = async () => new URL(`http://127.0.0.1:${proxy.port}/webhook`);
    const findSecret = async () => new Secret(SECRET);
    proxy.vanish();
    const sleep = async () => proxy.open();
    expect((await runTo(GATEWAY, { webhook: { url, findSecret }, sleep })).announced).toBe("firing");
    expect(posts()).toEqual(["firing"]);
    await proxy.stop();
  });

  test("has no secret here, or one that never comes", async () => {
    const url = async () => new URL(`${webhook.url}/webhook`);
    const missing = () =>
      Promise.reject(new OpsError({ code: "CONFIG_INVALID", message: "WEBHOOK_SECRET is missing" }));
    const broken = () => Promise.reject(new TypeError("a fault of opsctl itself"));
    const never = () => new Promise<Secret>(() => {});
    for (const findSecret of [missing, broken]) await runTo(GATEWAY, { webhook: { url, findSecret } });
    await runTo(GATEWAY, { webhook: { url, findSecret: never }, limitsMs: { usual: 50, interrupted: 1 } });
    expect(log.lines.map(({ fields }) => (fields as { cause: string }).cause)).toEqual([
      "CONFIG_INVALID",
      "TypeError",
      "secret_timeout",
    ]);
    expect(posts()).toEqual([]);
  });

  test("cannot even be written to, by a fault of opsctl itself, leaves the run its result", async () => {
    const summary = { ...GATEWAY, retryableUntil: "no instant" };
    expect(await runTo(summary)).toEqual({ ...summary, announced: "failed" });
    expect(codes()).toEqual(["ANNOUNCE_FAILED"]);
  });

  test("hangs holds a run that a signal ended for less long", async () => {
    webhook.routes.alerts.script = () => "hang";
    const interrupt = AbortSignal.abort();
    const summary = await runTo(GATEWAY, { interrupt, limitsMs: { usual: 3_600_000, interrupted: 50 } });
    expect(summary.announced).toBe("failed");
  });
});

describe("a file that cannot be", () => {
  test("named, because the settings have no directory, is none, and the alert goes out", async () => {
    const record = open({ logDir: null });
    record.wait(WAIT);
    record.begin(START);
    expect(await record.end(GATEWAY)).toEqual({ ...GATEWAY, announced: "firing" });
    expect(log.lines).toEqual([]);
  });

  test("written changes nothing but the log, and the alert goes out", async () => {
    const missing = join(folder, "missing");
    expect(await runTo(GATEWAY, { logDir: missing })).toEqual({ ...GATEWAY, announced: "firing" });
    expect(codes()).toEqual(["LAST_RUN_UNWRITABLE"]);
    expect(existsSync(missing)).toBe(false);
  });

  test("replaced, because a directory is in its place, is told once for reading and once for writing", async () => {
    mkdirSync(path());
    expect((await runTo(GATEWAY)).announced).toBe("firing");
    expect(codes()).toEqual(["LAST_RUN_UNREADABLE", "LAST_RUN_UNWRITABLE"]);
    expect(readdirSync(folder)).toEqual([LAST_RUN_FILE]);
  });

  test("followed, because it is a link, is replaced, and what it led to is not touched", async () => {
    const target = join(folder, "target");
    const held = { week: WEEK, fingerprint: weekFingerprint(WEEK), startsAt: FINISHED_AT };
    await runTo(GATEWAY);
    writeFileSync(target, readFileSync(path()));
    rmSync(path());
    symlinkSync(target, path());
    expect((await runTo(summaryOf())).announced).toBe("none");
    expect(codes()).toEqual(["LAST_RUN_UNREADABLE"]);
    expect(lstatSync(path()).isFile()).toBe(true);
    expect(parseLastRun(readFileSync(target, "utf8"))!.announcement).toEqual(held);
  });

  test.each(["", "{", "[]", "null", '{"status":"success"}', "x".repeat(70_000)])(
    "understood holds no announcement: %.20s",
    async (text) => {
      writeFileSync(path(), text);
      expect((await runTo(summaryOf())).announced).toBe("none");
      expect(codes()).toEqual(["LAST_RUN_UNREADABLE"]);
      expect(read().status).toBe("success");
    },
  );
});

describe("two runs of one host at the same time", () => {
  /** Another process that goes on: the one that started this one. */
  const other: LastRun["process"] = {
    ...ownProcessMark(),
    pid: process.ppid,
    startTicks: ticksOf(process.ppid),
  };
  const theirs = summaryOf({ runId: "theirs", whatsapp: { ...summaryOf().whatsapp, sent: 10 } });
  const heldElsewhere = failedWith([{ step: "report", code: "report_busy" }], {
    runId: "ours",
    reports: { ...summaryOf().reports, completed: 0, busy: 10 },
    week: weekOf({ reports: { completed: 0, running: 10 }, whatsapp: { sent: 0 }, email: { sent: 0 } }),
  });
  const idle = summaryOf({ runId: "ours", reports: { ...summaryOf().reports, completed: 0, reused: 10 } });

  test("the file is that of the run that began first, as long as it goes on", async () => {
    open({ process: other }).begin({ ...START, runId: "theirs" });
    const before = readFileSync(path(), "utf8");
    const ours = open();
    ours.begin({ ...START, runId: "ours" });
    expect(readFileSync(path(), "utf8")).toBe(before);
    expect(await ours.end(heldElsewhere)).toMatchObject({ announced: "none" });
    expect(readFileSync(path(), "utf8")).toBe(before);
  });

  test.each([
    ["met only what the other worked on", heldElsewhere],
    ["did nothing and says the same", idle],
  ])("a run that %s does not replace the end of the one that did the work", async (_how, summary) => {
    const first = open({ process: other });
    first.begin({ ...START, runId: "theirs" });
    const ours = open();
    ours.begin({ ...START, runId: "ours" });
    await first.end(theirs);
    await ours.end(summary);
    expect(read()).toMatchObject({ runId: "theirs", status: "success", whatsapp: { sent: 10 } });
  });

  const nothing = idle.reports;
  const sent = (channel: "whatsapp" | "email") => ({ [channel]: { ...idle[channel], sent: 1 } });
  test.each<[how: string, ours: WeeklySummary, theirs: WeeklySummary]>([
    ["failed by itself", failedWith(GATEWAY.failures, { reports: nothing }), theirs],
    ["mended what the other left", idle, GATEWAY],
    ["made reports, too", summaryOf(), theirs],
    ["sent messages, too", { ...idle, ...sent("whatsapp") }, theirs],
    ["sent e-mails, too", { ...idle, ...sent("email") }, theirs],
  ])("a run that %s is the last one", async (_how, summary, otherEnd) => {
    const first = open({ process: other });
    first.begin({ ...START, runId: "theirs", startedAt: "2026-11-23T10:59:00Z" });
    const ours = open();
    ours.begin({ ...START, runId: "ours" });
    await first.end(otherEnd);
    const { announced } = await ours.end({ ...summary, runId: "ours" });
    const begunAt = START.startedAt;
    expect(read()).toMatchObject({ runId: "ours", status: summary.status, announced, begunAt });
  });

  test("a run that was not ready is the last one, also after another that was not ready either", async () => {
    const notReadyAt = (finishedAt: string) => ({ ...notReady("DATABASE_UNREACHABLE"), finishedAt });
    await open({ process: other }).end(notReadyAt(FINISHED_AT));
    await open().end(notReadyAt("2026-11-23T15:00:00Z"));
    expect(read()).toMatchObject({ status: "not_ready", finishedAt: "2026-11-23T15:00:00Z" });
  });

  test("a run that met only what the other worked on is the last one when the other was killed then", async () => {
    const child = spawn("sleep", ["600"]);
    const killed = { ...ownProcessMark(), pid: child.pid!, startTicks: ticksOf(child.pid!) };
    open({ process: killed }).begin({ ...START, runId: "theirs" });
    const ours = open();
    ours.begin({ ...START, runId: "ours" });
    child.kill("SIGKILL");
    await once(child, "exit");
    await ours.end(heldElsewhere);
    expect(read()).toMatchObject({ runId: "ours", status: "failed" });
  });

  test("a run that is over replaces that of a process that was killed", async () => {
    open({ process: { ...other, startTicks: 1 } }).begin({ ...START, runId: "theirs" });
    await runTo(idle);
    expect(read()).toMatchObject({ runId: "ours", status: "success" });
  });

  test("what it announces meanwhile is kept in the other's record, for its success to resolve", async () => {
    const first = open({ process: other });
    first.begin({ ...START, runId: "theirs" });
    const ours = open();
    ours.begin({ ...START, runId: "ours" });
    expect(await ours.end(failedWith(GATEWAY.failures, { runId: "ours" }))).toMatchObject({
      announced: "firing",
    });
    expect(read()).toMatchObject({ runId: "theirs", status: "running", announcement: { week: WEEK } });
    expect(await first.end(theirs)).toMatchObject({ announced: "resolved" });
    expect(read()).toMatchObject({ runId: "theirs", announcement: null });
  });
});

describe("what a record knows to be sent", () => {
  const end = async (changes: Partial<WeeklySummary>) => {
    const record = open();
    record.begin(START);
    await record.end(summaryOf(changes));
    return open().sentBefore(WEEK);
  };
  const none = summaryOf().whatsapp;
  const rowLost = (more: Partial<Failure>): Failure => ({
    step: "whatsapp",
    code: "delivery_row_lost",
    ...more,
  });

  test("is what the ledger counts, whoever sent it", async () => {
    expect(await end({ whatsapp: { ...none, sent: 3 } })).toEqual({ whatsapp: 10, lost: 0 });
  });

  test("is what the run counted when the ledger has lost rows meanwhile: the next run is refused", async () => {
    expect(
      await end({ week: weekOf({ whatsapp: { sent: 4 } }), whatsapp: { ...none, sent: 5, reused: 2 } }),
    ).toEqual({ whatsapp: 7, lost: 0 });
  });

  test("is never less than a run before it counted, also when the run is interrupted after the loss", async () => {
    await end({});
    const week = weekOf({ whatsapp: { sent: 4 } });
    expect(await end({ week, whatsapp: { ...none, reused: 1 } })).toEqual({ whatsapp: 10, lost: 0 });
  });

  test("also counts messages whose rows were lost before they were recorded, and no other channel's", async () => {
    const providerMessageId = "3EB0";
    const failures = [
      rowLost({ providerMessageId }),
      rowLost({}),
      rowLost({ step: "email", providerMessageId }),
    ];
    const week = weekOf({ whatsapp: { sent: 0 } });
    expect(await end({ week, failures, whatsapp: { ...none, partial: 2 } })).toEqual({
      whatsapp: 1,
      lost: 1,
    });
  });

  test("adds those to what a run before counted, as long as it is the same week", async () => {
    await end({});
    const failures = [rowLost({ providerMessageId: "3EB0" })];
    expect(await end({ week: null, failures })).toEqual({ whatsapp: 11, lost: 1 });
    expect(await end({ week: null, failures })).toEqual({ whatsapp: 12, lost: 2 });
    expect(open().sentBefore("2026-11-23")).toEqual({ whatsapp: 0, lost: 0 });
  });

  test("is what the file of an earlier release says", async () => {
    await end({});
    writeFileSync(path(), JSON.stringify({ ...read(), sent: { week: WEEK, whatsapp: 8 } }));
    expect(open().sentBefore(WEEK)).toEqual({ whatsapp: 8, lost: 0 });
  });

  test("stays what it was after a run without a verdict, unless that run knows of more", async () => {
    await end({});
    expect(await end({ week: null, whatsapp: { ...none, sent: 3 } })).toEqual({ whatsapp: 10, lost: 0 });
    expect(await end({ week: null, whatsapp: { ...none, sent: 3, reused: 9 } })).toEqual({
      whatsapp: 12,
      lost: 0,
    });
  });
});

/** When the kernel started a process: field 22 of its line. */
function ticksOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[19]);
}

/** The series of the weekly run's last-run file, as the collector shows them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HEARTBEAT_FILE, LAST_RUN_FILE } from "../../lib/last-run/file-name.ts";
import { renderReport } from "../../lib/metrics/render.ts";
import { collectMetrics } from "../../lib/metrics/run.ts";
import { lastRun } from "../status/support/run.ts";
import { gaugesOf } from "../text/support/prometheus-parser.ts";
import { weekOf } from "../weekly/announce/support.ts";
import { type CollectArena, openCollectArena } from "./support/dependencies.ts";

let arena: CollectArena;
beforeAll(async () => {
  arena = await openCollectArena();
});
afterAll(async () => await arena[Symbol.asyncDispose]());
afterEach(() => rmSync(path(), { recursive: true, force: true }));

const BEGUN = "2026-11-23T11:00:00.5Z";
const UNTIL = "2026-11-24T03:00:00Z";
const RUN = { ...lastRun({ begunAt: BEGUN, retryableUntil: UNTIL }).run };
const path = () => join(arena.folder, LAST_RUN_FILE);
const put = (run: object) => writeFileSync(path(), JSON.stringify(run));

const LAST = "weekly_report_last_run_timestamp_seconds";
const SUCCESS = "weekly_report_last_run_success";
const RUNNING = "weekly_report_running";
const OPEN = "weekly_report_open_deliveries";
const RETRYABLE = "weekly_report_retryable_until_timestamp_seconds";

/** Every sample of the weekly run by its series, and the code of what could not be read. */
async function read() {
  const report = await collectMetrics(await arena.dependencies());
  const samples = gaugesOf(renderReport(report)).filter(({ name }) => name.startsWith("weekly_report_"));
  const values = samples.map(({ name, labels, value }) => [
    [name, ...Object.values(labels)].join(" "),
    value,
  ]);
  const code = report.sources.find(({ name }) => name === "heartbeat")?.problem?.code ?? null;
  return { values: Object.fromEntries(values) as Record<string, number>, code };
}

describe("the series of the last run", () => {
  test("are absent before the first run, which is no failure", async () => {
    expect(await read()).toEqual({ values: {}, code: null });
  });

  test("the series of a success say when it began, that nothing is open, and until when it could be repeated", async () => {
    put(RUN);
    const { values, code } = await read();
    expect(code).toBeNull();
    expect(values).toMatchObject({
      [LAST]: Date.parse(BEGUN) / 1000,
      [SUCCESS]: 1,
      [RUNNING]: 0,
      [RETRYABLE]: Date.parse(UNTIL) / 1000,
    });
    const open = Object.entries(values).filter(([name]) => name.startsWith(OPEN));
    expect(open.map(([name]) => name.slice(OPEN.length + 1))).toEqual(
      ["whatsapp", "email"].flatMap((channel) =>
        ["failed", "unknown", "partial", "running", "missing"].map((state) => `${channel} ${state}`),
      ),
    );
    expect(open.every(([, value]) => value === 0)).toBe(true);
  });

  test("the series of a failure count what is open, by channel and state", async () => {
    const week = weekOf({
      whatsapp: { failed: 2, unknown: 1 },
      email: { missing: 3, partial: 4, running: 5 },
    });
    put({ ...RUN, status: "failed", error: { code: "APP_HTTP_401" }, week });
    const { values } = await read();
    expect(values).toMatchObject({
      [SUCCESS]: 0,
      [`${OPEN} whatsapp failed`]: 2,
      [`${OPEN} whatsapp unknown`]: 1,
      [`${OPEN} email missing`]: 3,
      [`${OPEN} email partial`]: 4,
      [`${OPEN} email running`]: 5,
    });
  });

  test("the series of a run that goes on, or was killed, have neither success nor counts", async () => {
    put({ ...RUN, status: "running", week: null });
    const { values } = await read();
    expect(values).toEqual({
      [LAST]: Date.parse(BEGUN) / 1000,
      [RUNNING]: 1,
      [RETRYABLE]: Date.parse(UNTIL) / 1000,
    });
  });

  test("the series of a run that was not ready are what is known", async () => {
    put({ ...RUN, status: "not_ready", begunAt: null, window: null, retryableUntil: null, week: null });
    expect((await read()).values).toEqual({ [SUCCESS]: 0, [RUNNING]: 0 });
  });

  const SPOILT: [name: string, spoil: () => void][] = [
    [
      "a link",
      () => {
        writeFileSync(join(arena.folder, "target"), JSON.stringify(RUN));
        symlinkSync(join(arena.folder, "target"), path());
      },
    ],
    ["a link to nothing", () => symlinkSync(join(arena.folder, "nothing"), path())],
    ["a directory", () => mkdirSync(path())],
    ["a pipe that nobody writes to", () => expect(spawnSync("mkfifo", [path()]).status).toBe(0)],
    ["larger than 64 KiB", () => writeFileSync(path(), `${JSON.stringify(RUN)}${" ".repeat(65_536)}`)],
    ["cut off", () => writeFileSync(path(), JSON.stringify(RUN).slice(0, 100))],
    ["empty", () => writeFileSync(path(), "")],
    ["of an unknown status", () => put({ ...RUN, status: "ready" })],
    [
      "with a number that is a text",
      () => put({ ...RUN, week: { ...weekOf(), email: { ...weekOf().email, failed: "0" } } }),
    ],
    ["with a time that is none", () => put({ ...RUN, begunAt: "yesterday" })],
  ];

  test.each(SPOILT)(
    "are absent, never zero, where the file is %s; the heartbeat is shown",
    async (_name, spoil) => {
      writeFileSync(join(arena.folder, HEARTBEAT_FILE), "");
      spoil();
      const { values, code } = await read();
      expect(Object.keys(values)).toEqual(["weekly_report_last_success_timestamp_seconds"]);
      expect(code).toBe("last_run_unreadable");
    },
  );
});

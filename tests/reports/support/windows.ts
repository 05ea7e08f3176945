/** The windows through which an operator sees a Monday, all at one time of one ledger. */
import { statSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checksFor } from "../../../lib/doctor/checks/all.ts";
import type { Finding } from "../../../lib/doctor/finding.ts";
import { runDoctor } from "../../../lib/doctor/run.ts";
import { HEARTBEAT_FILE } from "../../../lib/host/heartbeat-file-name.ts";
import type { ProcessMark } from "../../../lib/last-run/process-mark.ts";
import { readLastRun } from "../../../lib/last-run/read.ts";
import { readTextEnd } from "../../../lib/platform/files/read-text.ts";
import type { Secret } from "../../../lib/platform/secrets/secret.ts";
import { findLastRun } from "../../../lib/reports/last-run.ts";
import { renderStatus } from "../../../lib/reports/render-status.ts";
import { readWeekStatus } from "../../../lib/reports/status.ts";
import type { PartReport } from "../../../lib/status/part.ts";
import { weeklyStatus } from "../../../lib/status/parts/weekly.ts";
import { localDate } from "../../../lib/time/local-date.ts";
import { reportDayEnd } from "../../../lib/time/report-day.ts";
import { Temporal } from "../../../lib/time/temporal.ts";
import { createRunRecord, type RunRecord } from "../../../lib/weekly/announce/run-record.ts";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { type Host, openHost } from "../../doctor/support/host.ts";
import { setClock } from "../../support/seed.ts";
import { silentLog } from "../../support/silent-log.ts";
import { startOver } from "../../weekly/support/shared-weekly.ts";
import {
  type FixtureChanges,
  type WeeklyFixture,
  weeklyFixture,
} from "../../weekly/support/weekly-fixture.ts";

const CHECKS = ["last success", "last run", "last week"];
const HOUR_MS = 3_600_000;

/** What each window says; `rules` are the titles of the rules on a Monday that fire. */
export type View = {
  status: PartReport;
  reports: { exitCode: number; text: string };
  doctor: Finding[];
  rules: string[];
};

/** A host with a week of its own, and what is seen of it. */
export type Windows = {
  weekly: WeeklyFixture;
  /** Nothing has run, and the clocks of database and host show this time. */
  startOver(at: string): Promise<void>;
  setTime(at: string): Promise<void>;
  /** Runs as the command does, with a record of this process or of `process`. */
  run(
    options?: Partial<WeeklyOptions>,
    changes?: FixtureChanges & { process?: ProcessMark },
  ): Promise<WeeklySummary>;
  /** The record of a run that has not begun yet. */
  record(process?: ProcessMark): RunRecord;
  look(): Promise<View>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens all windows on one host. */
export async function openWindows(): Promise<Windows> {
  const weekly = await weeklyFixture();
  const { logDir, db } = weekly;
  const opened = await openHost();
  const connection = keptConnection(opened.dependencies.openDatabase);
  const host = { ...opened, dependencies: { ...opened.dependencies, openDatabase: connection.open } };
  host.put("secrets/DATABASE_URL", db.url);
  host.setting("weekly", "OPSCTL_LOG_DIR", logDir);
  let nowMs = 0;
  const setTime = async (at: string) => {
    nowMs = Date.parse(at);
    await setClock(db.sql, at);
  };
  const record: Windows["record"] = (process) =>
    createRunRecord({
      ...{ isWhole: true, logDir, webhook: null, log: silentLog, host: hostname() },
      ...(process === undefined ? {} : { process }),
      ...{ interrupt: new AbortController().signal, limitsMs: { usual: 1_000, interrupted: 1_000 } },
      ...{ nowMs: () => nowMs, monotonicMs: () => performance.now(), sleep: (ms) => delay(ms) },
    });
  return {
    weekly,
    setTime,
    record,
    async startOver(at) {
      await startOver(weekly, at);
      await setTime(at);
    },
    async run(options = {}, { process, ...changes } = {}) {
      const one = record(process);
      const summary = await one.end(await weekly.run(options, { onBegin: one.begin, ...changes }));
      if (summary.heartbeat === "written")
        utimesSync(join(logDir, HEARTBEAT_FILE), nowMs / 1000, nowMs / 1000);
      return summary;
    },
    async look() {
      const week = await readWeekStatus(db.sql, undefined);
      const found = findLastRun(logDir, { week: week.week, isClean: week.clean });
      return {
        status: await statusOf(host, nowMs),
        reports: {
          exitCode: week.clean ? 0 : 1,
          text: renderStatus(week, found),
        },
        doctor: await runDoctor(
          { ...host.dependencies, nowMs: () => nowMs },
          checksFor(["weekly"], { isNamed: true }).filter(({ name }) => CHECKS.includes(name)),
        ),
        rules: rulesAt(nowMs, logDir),
      };
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await opened[Symbol.asyncDispose]();
      await weekly[Symbol.asyncDispose]();
    },
  };
}

/** The windows' one connection: to open one, and what it has to load and plan, costs more than to look. */
function keptConnection(openDatabase: Host["dependencies"]["openDatabase"]) {
  let database: ReturnType<typeof openDatabase> | undefined;
  return {
    async open(url: Secret) {
      database ??= openDatabase(url);
      return { ...(await database), close: async () => {} };
    },
    close: async () => await (await database)?.close(),
  };
}

async function statusOf(
  host: Pick<Host, "dependencies" | "path" | "service">,
  nowMs: number,
): Promise<PartReport> {
  return await weeklyStatus({
    env: { OPSCTL_ENV_DIR: host.path("etc"), OPSCTL_SECRETS_DIR: host.path("secrets") },
    ...{ viewer: "service", collector: { status: "unreadable", code: "" } },
    ...{ adminUrl: new URL(host.service.url), limitMs: 20_000, secretCommandLimitMs: 1_000 },
    wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
    nowMs: () => nowMs,
    openDatabase: host.dependencies.openDatabase,
    readTextEnd,
  });
}

/** The rules on a Monday, as `tests/alert-rules/monday.test.ts` proves them of their queries. */
function rulesAt(nowMs: number, logDir: string): string[] {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  const midnightMs = reportDayEnd(now).epochMilliseconds - 24 * HOUR_MS;
  const isMondayFrom = (hours: number) =>
    localDate(now).dayOfWeek === 1 && nowMs - midnightMs >= hours * HOUR_MS;
  const last = readLastRun(logDir);
  const begun = last.status === "found" ? Date.parse(last.run.begunAt ?? "1970-01-01T00:00:00Z") : 0;
  const succeeded = statSync(join(logDir, HEARTBEAT_FILE), { throwIfNoEntry: false });
  const successMs = succeeded?.isFile() ? succeeded.mtimeMs : 0;
  return [
    ...(isMondayFrom(8.25) && begun < midnightMs ? ["não rodou"] : []),
    ...(isMondayFrom(20) && successMs < midnightMs ? ["incompleto"] : []),
  ];
}

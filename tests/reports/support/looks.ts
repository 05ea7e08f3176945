/** One host that looks at a week: `opsctl status`, `opsctl reports status` and `opsctl doctor weekly` at one time. */
import { rmSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { checksFor } from "../../../lib/doctor/checks/all.ts";
import type { Finding } from "../../../lib/doctor/context.ts";
import { runDoctor } from "../../../lib/doctor/run.ts";
import { HEARTBEAT_FILE, LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { ownProcessMark } from "../../../lib/last-run/process-mark.ts";
import type { Secret } from "../../../lib/platform/secrets/secret.ts";
import { findLastRun } from "../../../lib/reports/last-run.ts";
import { renderStatus } from "../../../lib/reports/render-status.ts";
import { readWeekStatus, type WeekStatus } from "../../../lib/reports/status.ts";
import { readStatus } from "../../../lib/status/run.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import type { RunRecord, WeekState } from "../../cases/week-states.ts";
import { type Host, openHost } from "../../doctor/support/host.ts";
import { Ledger } from "../../sql/support/ledger.ts";
import { statusDependencies } from "../../status/support/dependencies.ts";
import { MONDAY, WEEK } from "../../support/seed.ts";
import { weeksBefore, writePastReport } from "../../weekly/support/past-report.ts";
import { makeOwners, withoutGuards } from "./week.ts";

/** What an operator sees; `week` is what the screen of `reports` is made of. */
export type Look = {
  status: { status: string; line: string; next: string | null; open: unknown };
  reports: { exitCode: number; text: string };
  week: WeekStatus;
  /** What doctor's check `status` finds. */
  doctor: Finding[];
};

/** A host whose database, files and clocks take each state. */
export type LookingHost = {
  host: Host;
  /** Makes this state the only one, and sets all clocks to its time. */
  make(state: WeekState): Promise<void>;
  look(): Promise<Look>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens the host. */
export async function openLookingHost(): Promise<LookingHost> {
  const host = await openHost();
  const connection = keptConnection(host.dependencies.openDatabase);
  const ledger = new Ledger(() => host.db);
  let nowMs = 0;
  const dependencies = {
    ...host.dependencies,
    ...{ openDatabase: connection.open, nowMs: () => nowMs },
  };
  const viewer = { ...host, dependencies };
  const logDir = host.path("log");
  return {
    host,
    async make({ at, owners, before = 0, networks = [], run, runFile, heartbeat = true, noDatabase }) {
      await ledger.empty();
      await ledger.setClock(MONDAY);
      const made = await makeOwners(ledger, owners);
      for (const [i, statuses] of networks.entries())
        await withoutGuards(ledger, async (tx) => {
          const sources = statuses.map((status) => ({
            ...{ channel: "linkedin", connectionId: crypto.randomUUID(), status },
            ...(status === "failed" ? { code: "APP_TIMEOUT" } : {}),
          }));
          await tx`update weekly_performance_reports
            set payload = payload || ${JSON.stringify({ provenance: { sources } })}::text::jsonb
            where id = ${made[i]!.reportId}`;
        });
      const earlier = await makeOwners(ledger, Array(before).fill({ report: "missing" }));
      for (const owner of earlier) await writePastReport(ledger.sql, owner, weeksBefore(WEEK, 1));
      await ledger.sql`update credit_wallets set status = 'closed'
        where tenant_id = any(${earlier.map(({ tenantId }) => tenantId)})`;
      host.put("secrets/DATABASE_URL", noDatabase ? "postgres://u:p@127.0.0.1:1/app" : host.db.url);
      connection.use(!noDatabase);
      nowMs = Date.parse(at);
      await ledger.setClock(at);
      rmSync(host.path("log", LAST_RUN_FILE), { recursive: true, force: true });
      const record = runFile ?? (run === undefined ? null : JSON.stringify(recordOf(run)));
      if (record !== null) host.put(`log/${LAST_RUN_FILE}`, record, 0o644);
      rmSync(host.path("log", HEARTBEAT_FILE), { force: true });
      if (!heartbeat) return;
      host.put(`log/${HEARTBEAT_FILE}`, "{}\n", 0o644);
      utimesSync(host.path("log", HEARTBEAT_FILE), nowMs / 1000, nowMs / 1000);
    },
    async look() {
      const week = await readWeekStatus(ledger.sql, undefined);
      const found = findLastRun(logDir, { week: week.week, isClean: week.clean });
      const parts = await readStatus({ ...statusDependencies(viewer), nowMs: () => nowMs });
      const { status, lines, next, facts } = parts.find(({ part }) => part === "weekly")!;
      const checks = checksFor(["weekly"]).filter(({ name }) => name === "status");
      const bare = (text: string) => text.replace(/ ?OPSCTL_\w+=\S+| --env-dir \S+/g, "");
      return {
        status: {
          status,
          line: bare(lines.join("\n")),
          next: next === null ? null : bare(next),
          open: (facts as { open?: unknown } | undefined)?.open,
        },
        reports: { exitCode: week.clean ? 0 : 1, text: renderStatus(week, found, NO_TERMINAL) },
        week,
        doctor: await runDoctor(dependencies, checks),
      };
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await host[Symbol.asyncDispose]();
    },
  };
}

/** What a run leaves: one of this host that succeeded, but for these keys; `process` may have ended or be elsewhere. */
function recordOf({ process = "works", ...changes }: RunRecord): object {
  const own = ownProcessMark();
  const marks = {
    works: own,
    ended: { ...own, startTicks: 1 },
    elsewhere: { ...own, host: `not-${hostname()}`, startTicks: 1 },
  };
  return {
    ...{ status: "success", runId: "r", begunAt: "2026-11-23T11:00:00Z", finishedAt: "2026-11-23T11:20:00Z" },
    ...{ window: WEEK, retryableUntil: "2026-11-24T03:00:00Z", error: null, week: null, announcement: null },
    heartbeat: "written",
    ...changes,
    process: marks[process],
  };
}

/** One connection for all looks: to open one, and what it has to load and plan, costs more than to look. */
function keptConnection(openDatabase: Host["dependencies"]["openDatabase"]) {
  let database: ReturnType<typeof openDatabase> | undefined;
  let isUsed = true;
  return {
    use: (value: boolean) => {
      isUsed = value;
    },
    async open(url: Secret) {
      if (!isUsed) return await openDatabase(url);
      database ??= openDatabase(url);
      return { ...(await database), close: async () => {} };
    },
    close: async () => await (await database)?.close(),
  };
}

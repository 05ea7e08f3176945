/**
 * `opsctl weekly` as a process of its own, whose waits pass a hundred times as fast: everything else of it is the real
 * program, from the settings to the last-run file. Started by `startHurriedWorker`.
 */
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { openWeeklyDependencies } from "../../cli/wiring/weekly.ts";
import { openRunRecord } from "../../cli/wiring/weekly-record.ts";
import { createLog } from "../../lib/platform/log/log.ts";
import { applicationClient } from "../../lib/providers/application/client.ts";
import { loadWeeklyConfig } from "../../lib/weekly/config.ts";
import type { WeeklyDependencies } from "../../lib/weekly/context/dependencies.ts";
import { runWeekly } from "../../lib/weekly/run.ts";
import { ANALYSIS_TIMEOUT_MS, HURRY, type HurriedFlags } from "./hurried.ts";

const flags = {
  dryRun: false,
  tenantId: null,
  skipWhatsapp: false,
  skipEmail: false,
  skipEditorials: false,
  withoutSocial: false,
  showProgress: false,
  ...(JSON.parse(process.argv[2]!) as HurriedFlags),
};
const stderr = { write: (text: string) => process.stderr.write(text), isTerminal: false };
const log = createLog({ stream: stderr, format: "json", level: "info" });
const interrupt = new AbortController().signal;
const context = { env: process.env, log, stderr, interrupt };

const record = await openRunRecord(flags, context);
const config = await loadWeeklyConfig(process.env, flags, () => {});
const opened = await openWeeklyDependencies(config, flags, {
  ...context,
  onBegin: record.begin,
  onWait: record.wait,
});
const dependencies = { ...opened.dependencies, ...hurriedTime(), application: application() };
const summary = await record.end(await runWeekly(dependencies, opened.options));
process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exitCode = summary.exitCode;
await opened.close();

/** A clock that a wait of the run moves by all of its length, in a hundredth of the time. */
function hurriedTime(): Pick<WeeklyDependencies, "monotonicMs" | "sleep"> {
  let skippedMs = 0;
  return {
    monotonicMs: () => performance.now() + skippedMs,
    async sleep(ms, signal) {
      await delay(ms / HURRY, undefined, signal ? { signal } : {});
      skippedMs += ms - ms / HURRY;
    },
  };
}

function application(): WeeklyDependencies["application"] {
  const { appBaseUrl, triggerSecret, editorials } = config;
  return applicationClient({
    baseUrl: new URL(appBaseUrl),
    triggerSecret,
    editorialSecret: editorials?.secret ?? null,
    timeoutsMs: { analysis: ANALYSIS_TIMEOUT_MS },
  });
}

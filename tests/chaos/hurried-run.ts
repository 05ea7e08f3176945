/**
 * `opsctl weekly` as a process of its own, whose waits pass a hundred times as fast: everything else of it is the real
 * program, from the settings to the last-run file. Started by `startHurriedWorker`.
 */
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { applicationClient } from "../../lib/providers/application/client.ts";
import type { WeeklyConfig } from "../../lib/weekly/config.ts";
import type { WeeklyDependencies } from "../../lib/weekly/context/dependencies.ts";
import { ANALYSIS_TIMEOUT_MS, HURRY } from "./hurried.ts";
import { runWired, type WiredFlags } from "./wired-run.ts";

const summary = await runWired(JSON.parse(process.argv[2]!) as WiredFlags, {
  env: process.env,
  write: (text) => void process.stderr.write(text),
  changes: (config) => ({ ...hurriedTime(), application: application(config) }),
});
process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exitCode = summary.exitCode;

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

function application({
  appBaseUrl,
  triggerSecret,
  editorials,
}: WeeklyConfig): WeeklyDependencies["application"] {
  return applicationClient({
    baseUrl: new URL(appBaseUrl),
    triggerSecret,
    editorialSecret: editorials?.secret ?? null,
    timeoutsMs: { analysis: ANALYSIS_TIMEOUT_MS },
  });
}

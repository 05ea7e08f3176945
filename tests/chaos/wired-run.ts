/** `opsctl weekly` as the command wires it, from the settings to the last-run file, without a start of the binary. */
import { openWeeklyDependencies } from "../../cli/wiring/weekly/run.ts";
import { openRunRecord } from "../../cli/wiring/weekly/run-record.ts";
import { createLog } from "../../lib/platform/log/log.ts";
import { loadWeeklyConfig, type WeeklyConfig } from "../../lib/weekly/config.ts";
import type { WeeklyDependencies } from "../../lib/weekly/context/dependencies.ts";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { runWeekly } from "../../lib/weekly/run.ts";
import type { Ended } from "./worker.ts";

/** The flags that such a run takes. */
export type WiredFlags = { concurrency: number; patienceMinutes: number };

type Wiring = {
  env: Record<string, string | undefined>;
  write(text: string): void;
  /** What is different from what the command uses. */
  changes?: (config: WeeklyConfig) => Partial<WeeklyDependencies>;
};

/** One run with these variables and nothing else of the caller's environment; its log goes to `write`. */
export async function runWired(
  given: WiredFlags,
  { env, write, changes = () => ({}) }: Wiring,
): Promise<WeeklySummary> {
  const flags = { ...USUAL, ...given };
  const stderr = { write, isTerminal: false };
  const log = createLog({ stream: stderr, format: "json", level: "info" });
  const context = { env, log, stderr, interrupt: new AbortController().signal };
  const record = await openRunRecord(flags, context);
  const config = await loadWeeklyConfig(env, flags, () => {});
  const opened = await openWeeklyDependencies(config, flags, {
    ...context,
    onBegin: record.begin,
    sentBefore: record.sentBefore,
    onDatabaseWait: record.wait,
  });
  try {
    return await record.end(await runWeekly({ ...opened.dependencies, ...changes(config) }, opened.options));
  } finally {
    await opened.close();
  }
}

const USUAL = {
  dryRun: false,
  tenantId: null,
  skipWhatsapp: false,
  skipEmail: false,
  skipEditorials: false,
  withoutSocial: false,
  showProgress: false,
};

/** One run in this process, with a result like that of the binary. */
export async function runHere(env: Record<string, string>, concurrency: number): Promise<Ended> {
  const startedMs = performance.now();
  let stderr = "";
  const write = (text: string) => {
    stderr += text;
  };
  const summary = await runWired({ concurrency, patienceMinutes: 15 }, { env, write });
  const durationMs = performance.now() - startedMs;
  const stdout = `${JSON.stringify(summary)}\n`;
  return { exitCode: summary.exitCode, signal: null, durationMs, stdout, stderr, summary };
}

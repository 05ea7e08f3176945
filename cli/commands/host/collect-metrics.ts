/**
 * `opsctl collect-metrics`: reads the host's metrics once, for the text-file directory of the monitoring agent.
 *
 * Writes: `custom_metrics.prom` in TEXTFILE_DIR, once this process is the account that it belongs to; a lock file against
 *         two runs at once, in /run/opsctl-collect for root, else beside the metrics; nothing with `--stdout`.
 * Calls:  the container engine, the hosting provider; the ping, unless `--stdout` is given.
 * JSON:   `skipped`: null or already_running, `file`: path or null, `sources` (each `source`, `up`, `durationMs`,
 *         `samples`: how many, `error`: null or `code`, `message`), `metrics`: the text with `--stdout`, else null.
 */
import type { TextDirectory } from "../../../lib/host/text-directory.ts";
import type { CollectConfig } from "../../../lib/metrics/config.ts";
import type { CollectDependencies, CollectReport } from "../../../lib/metrics/run.ts";
import { flag } from "../../args/options.ts";
import { type CommandContext, defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import type { Outcome } from "../../framework/outcome.ts";

/** The command; see the head of this file. */
export const collectMetrics = defineCommand({
  isUnattended: true,
  notes:
    "A source that cannot be read is left out of the file, never written as zero, and makes the exit status 1.",
  args: { stdout: flag("Print the metrics instead of writing the file") },
  example: "opsctl collect-metrics --stdout",

  async run(args, context) {
    if (args.stdout) return await collectToStdout(await openWork(context));
    return await pinged(context, async () => await collectLocked(await openWork(context, "set up")));
  },
});

async function openWork(context: CommandContext, needs?: "set up"): Promise<Work> {
  const [{ loadCollectConfig, refuseWithoutSettings }] = await Promise.all([
    import("../../../lib/metrics/config.ts"),
    ...modulesOfAPass(),
  ]);
  if (needs !== undefined) refuseWithoutSettings(context.env, context.settingsFile);
  return { config: await loadCollectConfig(context.env), context };
}

/** Tells the ping how the pass ends, unless another one does the work. */
async function pinged(context: CommandContext, pass: () => Promise<Outcome>): Promise<Outcome> {
  if ((context.env.OPSCTL_PING_URL ?? "").trim() === "") return await pass();
  const { openPingEnd } = await import("../../wiring/ping.ts");
  // A pass a minute keeps no memory of the last one: what fails is logged in the first minute of an hour.
  const ping = await openPingEnd(context, { mayLog: () => new Date().getUTCMinutes() === 0 });
  try {
    const outcome = await pass();
    if (outcome !== SKIPPED) await ping(outcome.exitCode === EXIT.ok);
    return outcome;
  } catch (error) {
    await ping(false);
    throw error;
  }
}

/** Imported all at once: one after the other, each import delays the first call by a turn of its own. */
function modulesOfAPass(): Promise<unknown>[] {
  return [
    import("../../../lib/host/text-directory.ts"),
    import("../../../lib/metrics/run-lock.ts"),
    import("../../wiring/host/collect-metrics.ts"),
    import("../../../lib/metrics/run.ts"),
  ];
}

type Work = { config: CollectConfig; context: CommandContext };

async function collectToStdout(work: Work): Promise<Outcome> {
  const { report, text } = await collect(work);
  return collected(report, { file: null, metrics: text }, text);
}

async function collectLocked(work: Work): Promise<Outcome> {
  const { findTextDirectory } = await import("../../../lib/host/text-directory.ts");
  const { lockRun } = await import("../../../lib/metrics/run-lock.ts");
  const directory = findTextDirectory(work.config.TEXTFILE_DIR);
  const lock = lockRun(directory);
  if (lock === null) return alreadyRunning(work.context);
  try {
    return await collectToFile(work, directory);
  } finally {
    lock.release();
  }
}

async function collectToFile(work: Work, directory: TextDirectory): Promise<Outcome> {
  const { config } = work;
  const collecting = collect(work);
  // Imported while the sources are read.
  const [{ METRICS_FILE }, { renderCollected }] = await Promise.all([
    import("../../../lib/host/metrics-file-name.ts"),
    import("../../../lib/metrics/render.ts"),
    import("../../../lib/metrics/write-metrics-file.ts"),
  ]);
  const { report, text } = await collecting;
  await write(directory, `${directory.path}/${METRICS_FILE}`, text);
  const file = `${config.TEXTFILE_DIR.replace(/\/+$/, "")}/${METRICS_FILE}`;
  return collected(report, { file, metrics: null }, ({ width }) => renderCollected(report, file, width));
}

/** Writes as the account that the directory belongs to: root becomes that account for good. */
async function write({ uid }: TextDirectory, path: string, text: string): Promise<void> {
  const { accountOf, becomeAccount, isRoot } = await import("../../../lib/platform/privileges.ts");
  const { unwritable, writeMetricsFile } = await import("../../../lib/metrics/write-metrics-file.ts");
  try {
    if (isRoot() && uid !== 0) becomeAccount(accountOf(uid));
  } catch (error) {
    throw unwritable(path, error);
  }
  writeMetricsFile(path, text);
}

async function collect({ config, context }: Work): Promise<{ report: CollectReport; text: string }> {
  const { openCollectDependencies } = await import("../../wiring/host/collect-metrics.ts");
  const { collectMetrics: collectAll } = await import("../../../lib/metrics/run.ts");
  const dependencies: CollectDependencies = openCollectDependencies(config, context);
  const collecting = collectAll(dependencies);
  const { renderReport } = await import("../../../lib/metrics/exposition.ts");
  const report = await collecting;
  for (const { name, problem } of report.sources)
    if (problem !== null) context.log.error(problem.message, { source: name, code: problem.code });
  return { report, text: renderReport(report) };
}

function collected(
  report: CollectReport,
  written: { file: string | null; metrics: string | null },
  text: Outcome["text"],
): Outcome {
  const exitCode = report.sources.every(({ problem }) => problem === null) ? EXIT.ok : EXIT.failed;
  const sources = report.sources.map(({ name, durationMs, samples, problem }) => ({
    source: name,
    up: problem === null,
    durationMs: Math.round(durationMs),
    samples: Object.values(samples).reduce((count, list) => count + (list?.length ?? 0), 0),
    error: problem,
  }));
  return { exitCode, fields: { ...written, skipped: null, sources }, text };
}

const SKIPPED: Outcome = {
  fields: { file: null, metrics: null, skipped: "already_running", sources: [] },
  text: "Another run is in progress\n",
};

function alreadyRunning({ log }: CommandContext): Outcome {
  log.warn("Another run of collect-metrics is in progress; this one leaves the work to it");
  return SKIPPED;
}

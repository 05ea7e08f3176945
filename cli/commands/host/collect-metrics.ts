/**
 * `opsctl collect-metrics`: reads the host's metrics once, for the text-file directory of the monitoring agent.
 *
 * Writes: `custom_metrics.prom` in TEXTFILE_DIR, once this process is the account that it belongs to; a lock file against
 *         two runs at once, in /run/opsctl-collect for root, else beside the metrics; nothing with `--stdout`.
 * Calls:  the container engine, the hosting provider; the ping, unless `--stdout` is given.
 * JSON:   `skipped`: null or already_running, `file`: path or null, `sources` (each `source`, `up`, `durationMs`,
 *         `samples`: how many, `error`: null or `code`, `message`), `metrics`: the text with `--stdout`, else null.
 */
import type { PassDependencies } from "../../../lib/metrics/pass.ts";
import type { CollectReport } from "../../../lib/metrics/run.ts";
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

  run: (args, context) =>
    args.stdout ? collectToStdout(context) : pinged(context, () => collectToFile(context)),
});

async function collectToStdout(context: CommandContext): Promise<Outcome> {
  const { readMetrics, loadCollectConfig, SOURCES } = await modulesOfAPass();
  const settings = await loadCollectConfig(context.env);
  const { report, text } = await readMetrics(dependenciesOf({ sources: SOURCES, settings }, context));
  return collected(report, { file: null, metrics: text }, text);
}

async function collectToFile(context: CommandContext): Promise<Outcome> {
  const modules = await modulesOfAPass();
  modules.refuseWithoutSettings(context.env, context.settingsFile);
  const settings = await modules.loadCollectConfig(context.env);
  const dependencies = dependenciesOf({ sources: modules.SOURCES, settings }, context);
  const written = await modules.writeMetrics(settings.TEXTFILE_DIR, dependencies);
  if (written === null) return alreadyRunning(context);
  const { report, file } = written;
  return collected(report, { file, metrics: null }, ({ width }) =>
    modules.renderCollected(report, file, width),
  );
}

/** Imported all at once: one after the other, each import delays the first call by a turn of its own. */
async function modulesOfAPass() {
  const modules = await Promise.all([
    import("../../../lib/metrics/config.ts"),
    import("../../../lib/metrics/pass.ts"),
    import("../../../lib/metrics/render.ts"),
    import("../../../lib/metrics/sources.ts"),
  ]);
  const [config, pass, render, sources] = modules;
  return { ...config, ...pass, ...render, ...sources };
}

function dependenciesOf(
  parts: Pick<PassDependencies, "sources" | "settings">,
  { env, log }: CommandContext,
): PassDependencies {
  return { ...parts, env, log, nowMs: Date.now, monotonicMs: () => performance.now() };
}

/** Reports to the ping how the pass ended, unless another one does the work. */
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

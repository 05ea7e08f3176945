import type { CollectReport } from "../../../lib/metrics/run.ts";
import { flag } from "../../args/options.ts";
import { type CommandContext, defineCommand, type Outcome } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";

/**
 * `opsctl collect-metrics` reads the host's metrics once, for the monitoring agent.
 *
 * Behaviour: stays root until it writes. Replaces `custom_metrics.prom` in TEXTFILE_DIR, beside a lock file; writes
 *            nothing with `--stdout`. Calls the container engine and the hosting provider; the ping unless `--stdout`.
 */
export const collectMetrics = defineCommand({
  staysRoot: true,
  isUnattended: true,
  notes:
    "A source that cannot be read is left out of the file, never written as zero, and makes the exit status 1.",
  args: { stdout: flag("Print the metrics instead of writing the file") },
  example: "opsctl collect-metrics --stdout",

  async run({ stdout }, context) {
    // All at once: one after the other, each import delays the first call by a turn of its own.
    const [
      { loadCollectConfig, refuseWithoutSettings, SOURCES },
      run,
      { renderCollected, renderReport },
      { writeMetrics },
    ] = await Promise.all([
      import("../../../lib/metrics/sources.ts"),
      import("../../../lib/metrics/run.ts"),
      import("../../../lib/metrics/render.ts"),
      import("../../../lib/metrics/write.ts"),
    ]);
    const { env, log, settingsPath } = context;
    return await pinged(context, stdout !== true, async () => {
      if (!stdout) refuseWithoutSettings(env, settingsPath);
      const settings = await loadCollectConfig(env);
      const dependencies = { sources: SOURCES, settings, env, log, nowMs: Date.now };
      if (stdout) {
        const report = await run.collectMetrics(dependencies);
        const metrics = renderReport(report);
        return collected(report, { file: null, metrics }, metrics);
      }
      const written = await writeMetrics(settings.TEXTFILE_DIR, dependencies);
      if (written === null) {
        log.warn("Another run of collect-metrics is in progress; this one leaves the work to it");
        return SKIPPED;
      }
      const { report, file } = written;
      return collected(report, { file, metrics: null }, ({ width }) => renderCollected(report, file, width));
    });
  },
});

const SKIPPED: Outcome = {
  fields: { file: null, metrics: null, skipped: "already_running", sources: [] },
  text: "Another run is in progress\n",
};

/** Reports to the ping how the run ended, unless another one does the work. */
async function pinged(
  context: CommandContext,
  isWanted: boolean,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!isWanted || (context.env.OPSCTL_PING_URL ?? "").trim() === "") return await run();
  const { openPingEnd } = await import("../../wiring/ping.ts");
  // A run a minute keeps no memory of the last one: what fails is logged in the first minute of an hour.
  const ping = await openPingEnd("collect-metrics", context, () => new Date().getUTCMinutes() === 0);
  try {
    const outcome = await run();
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
    samples: Object.values(samples).flat().length,
    error: problem,
  }));
  return { exitCode, fields: { ...written, skipped: null, sources }, text };
}

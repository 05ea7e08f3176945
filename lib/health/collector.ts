import { failedSources, lastPassMs, STALE_PASS_MS } from "../metrics/last-pass.ts";
import { ageResult, command, fail, type Health, needsDoctor, pass, warn } from "./result.ts";

const CRON = command(
  "grep opsctl /etc/cron.d/opsctl; systemctl status cron; tail /var/log/opsctl/collect-metrics.log",
);
const DUE = { every: "every minute", limitMs: STALE_PASS_MS, fault: fail, fix: CRON };

/** The health of the collector by the metrics file that it writes; null where there is no file. */
export function collectorHealth(text: string | null, nowMs: number): Health {
  if (text === null)
    return { lines: [[needsDoctor(warn("LAST_RUN_MISSING", "it has not run yet", CRON))]], facts: null };
  const lastMs = lastPassMs(text);
  if (lastMs === null) return { lines: [[needsDoctor(UNDATED)]], facts: null };
  const failing = failedSources(text);
  const sources =
    failing.length === 0
      ? pass("every source read")
      : warn("SOURCE_FAILED", `not read: ${failing.join(", ")}`, command("opsctl collect-metrics --stdout"));
  const facts = { ageSeconds: Math.max(0, Math.round((nowMs - lastMs) / 1000)), failing };
  return { lines: [[ageResult(nowMs - lastMs, DUE), sources]], facts };
}

const UNDATED = fail(
  "LAST_RUN_UNREADABLE",
  "the metrics file does not say when it was written",
  command("opsctl collect-metrics", "Write it again:"),
);

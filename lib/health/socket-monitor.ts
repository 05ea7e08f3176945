import { lastReadings, STALE_READINGS_MS } from "../sockets/readings.ts";
import { ageResult, type CheckResult, command, type Health, needsDoctor, pass, warn } from "./result.ts";

const CRON = command("grep opsctl /etc/cron.d/opsctl; systemctl status cron");
const DUE = { every: "every five minutes", limitMs: STALE_READINGS_MS, fault: warn, fix: CRON };

/** The health of the socket monitor by the end of its log; null where there is no log. */
export function socketMonitorHealth(text: string | null, nowMs: number): Health {
  if (text === null)
    return { lines: [[needsDoctor(warn("LAST_RUN_MISSING", "it has not run yet", CRON))]], facts: null };
  const last = lastReadings(text);
  if (last === null) return { lines: [[needsDoctor(UNREADABLE)]], facts: null };
  const { timeMs, total, threshold } = last;
  const facts = { ageSeconds: Math.max(0, Math.round((nowMs - timeMs) / 1000)), total, threshold };
  return { lines: [[ageResult(nowMs - timeMs, DUE), socketsResult(total, threshold)]], facts };
}

const UNREADABLE = warn("LAST_RUN_UNREADABLE", "the last line of its log cannot be read", CRON);

function socketsResult(total: number | null, threshold: number | null): CheckResult {
  if (total === null)
    return needsDoctor(
      warn("SOCKETS_UNREADABLE", "the sockets could not be counted", command("apt-get install iproute2")),
    );
  const counted = `${total} TCP sockets`;
  if (threshold === null || total <= threshold) return pass(counted);
  return warn("SOCKETS_ABOVE_THRESHOLD", `${counted}, more than ${threshold}`, command("ss -s"));
}

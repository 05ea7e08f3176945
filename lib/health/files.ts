import { join } from "node:path";
import { LAST_PLAN_FILE, LAST_PLAN_MAX_BYTES, parseLastPlan } from "../alert-rules/last-plan.ts";
import { METRICS_FILE } from "../host/metrics-file-name.ts";
import { failedSources, lastPassMs, STALE_PASS_MS } from "../metrics/last-pass.ts";
import { loadSettings } from "../platform/config/load.ts";
import { readTextEnd } from "../platform/files/regular-file.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { lastReadings, SOCKET_LOG_FILE, STALE_READINGS_MS } from "../sockets/readings.ts";
import { isToCome } from "../time/to-come.ts";
import {
  ageResult,
  type CheckResult,
  command,
  fail,
  type Health,
  NOT_SET_UP,
  note,
  only,
  pass,
  SET_CLOCK,
  shortTime,
  warn,
} from "./result.ts";

/** The file of a part: by which setting its directory is named, and how the end of its text is judged. */
type LeftFile = {
  of: "collect-metrics" | "socket-monitor" | "alert-rules";
  directory: "TEXTFILE_DIR" | "OPSCTL_LOG_DIR";
  name: string;
  maxBytes: number;
  missing: CheckResult;
  judge(text: string, nowMs: number): Health;
};

const CRON = command("grep opsctl /etc/cron.d/opsctl; systemctl status cron; ls -l /var/log/opsctl");
const NEVER_RUN = warn("LAST_RUN_MISSING", "it has not run yet", CRON);
const PLAN = "opsctl alert-rules plan";
const APPLY = "opsctl alert-rules apply";
const EXTRAS = " --with-extras";
/** A plan older than this may be outdated: people change rules in Grafana as well. */
const PLAN_LIMIT_MS = 30 * 86_400_000;

const FILES = {
  collector: {
    ...{ of: "collect-metrics", directory: "TEXTFILE_DIR", name: METRICS_FILE, maxBytes: 1_048_576 },
    ...{ missing: NEVER_RUN, judge: judgeMetrics },
  },
  "socket-monitor": {
    ...{ of: "socket-monitor", directory: "OPSCTL_LOG_DIR", name: SOCKET_LOG_FILE, maxBytes: 4_096 },
    ...{ missing: NEVER_RUN, judge: judgeReadings },
  },
  "alert-rules": {
    ...{
      of: "alert-rules",
      directory: "OPSCTL_LOG_DIR",
      name: LAST_PLAN_FILE,
      maxBytes: LAST_PLAN_MAX_BYTES,
    },
    missing: warn("RULES_NOT_PLANNED", "never planned on this host", command(PLAN + EXTRAS)),
    judge: judgePlan,
  },
} as const satisfies Record<string, LeftFile>;

/** A part that is judged by the file that its last run left. */
export type FilePart = keyof typeof FILES;

/**
 * The health of such a part; `env` are the settings of its command.
 *
 * Errors: CONFIG_INVALID about its directory; those of the file system, but for a file that is missing.
 */
export async function fileHealth(
  part: FilePart,
  { env, isSetUp, nowMs }: { env: Environment; isSetUp: boolean; nowMs: number },
): Promise<Health> {
  const { of, directory, name, maxBytes, missing, judge } = FILES[part];
  const settings = await loadSettings(of, { optional: [directory] }, env);
  try {
    return judge(await readTextEnd(join(settings[directory], name), maxBytes), nowMs);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return isSetUp ? only(missing) : NOT_SET_UP;
  }
}

function judgeMetrics(text: string, nowMs: number): Health {
  const lastMs = lastPassMs(text);
  if (lastMs === null) return only(fail("LAST_RUN_UNREADABLE", "the metrics file has no time", CRON));
  const failing = failedSources(text);
  const due = { every: "every minute", limitMs: STALE_PASS_MS, fault: fail, fix: CRON };
  const fix = command("opsctl collect-metrics --stdout");
  const sources =
    failing.length === 0
      ? pass("every source read")
      : warn("SOURCE_FAILED", `not read: ${failing.join(", ")}`, fix);
  return {
    results: [ageResult(nowMs - lastMs, due), sources],
    facts: { ageSeconds: Math.max(0, Math.round((nowMs - lastMs) / 1000)), failing },
  };
}

function judgeReadings(text: string, nowMs: number): Health {
  const last = lastReadings(text);
  if (last === null)
    return only(warn("LAST_RUN_UNREADABLE", "the last line of its log cannot be read", CRON));
  const { timeMs, total, threshold } = last;
  const due = { every: "every five minutes", limitMs: STALE_READINGS_MS, fault: warn, fix: CRON };
  return {
    results: [ageResult(nowMs - timeMs, due), socketsResult(total, threshold)],
    facts: { ageSeconds: Math.max(0, Math.round((nowMs - timeMs) / 1000)), total, threshold },
  };
}

function socketsResult(total: number | null, threshold: number | null): CheckResult {
  if (total === null)
    return warn(
      "SOCKETS_UNREADABLE",
      "the sockets could not be counted",
      command("apt-get install iproute2"),
    );
  if (threshold === null || total <= threshold) return pass(`${total} TCP sockets`);
  return warn("SOCKETS_ABOVE_THRESHOLD", `${total} TCP sockets, more than ${threshold}`, command("ss -s"));
}

/** Grafana is not called: this is what the last `plan` or `apply` found. */
function judgePlan(text: string, nowMs: number): Health {
  const plan = parseLastPlan(text);
  if (plan === null)
    return only(warn("LAST_RUN_UNREADABLE", `${LAST_PLAN_FILE} cannot be read`, command(PLAN + EXTRAS)));
  const extras = plan.withExtras ? EXTRAS : "";
  const ageMs = nowMs - Date.parse(plan.at);
  const rules = `${plan.rules} rules${plan.withExtras ? "" : " (without extras)"}`;
  const line = `last ${plan.command} ${shortTime(ageMs)} ago: ${rules}`;
  if (isToCome(ageMs))
    return only(warn("CLOCK_WRONG", `the last ${plan.command} is dated in the future`, SET_CLOCK), plan);
  if (plan.differ > 0)
    return only(
      warn("RULES_DIFFER", `${line}, ${plan.differ} of them differ`, command(APPLY + extras)),
      plan,
    );
  if (ageMs <= PLAN_LIMIT_MS) return only(pass(`${line}, as in the code`), plan);
  const old = note("RULES_NOT_CHECKED", `${line}; not checked for 30 days`, command(PLAN + extras));
  return { ...only(old, plan), isOutdated: true };
}

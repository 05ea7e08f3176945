import { join } from "node:path";
import { LAST_PLAN_FILE, parseLastPlan } from "../alert-rules/last-plan.ts";
import { METRICS_FILE } from "../host/metric-names.ts";
import { failedSources, lastPassMs, STALE_PASS_MS } from "../metrics/last-pass.ts";
import { loadSettings } from "../platform/config/load.ts";
import { commandOf } from "../platform/config/settings-table.ts";
import { readTextEnd } from "../platform/files/regular-file.ts";
import { lastReadings, SOCKET_LOG_FILE, STALE_READINGS_MS } from "../sockets/readings.ts";
import { isToCome } from "../time/to-come.ts";
import {
  command,
  fail,
  type Health,
  type Look,
  NOT_SET_UP,
  note,
  only,
  pass,
  SET_CLOCK,
  shortTime,
  warn,
} from "./result.ts";

const CRON = command("grep opsctl /etc/cron.d/opsctl; systemctl status cron; ls -l /var/log/opsctl");
/** What is read of the end of a file. */
const MAX_BYTES = 1_048_576;
const PLAN = "opsctl alert-rules plan";
const APPLY = "opsctl alert-rules apply";
const EXTRAS = " --with-extras";
/** A plan older than this may be outdated: people change rules in Grafana as well. */
const PLAN_LIMIT_MS = 30 * 86_400_000;

/** Of each part the setting that names its directory, and the file that its last run leaves there. */
const FILES = {
  collector: ["TEXTFILE_DIR", METRICS_FILE, judgeMetrics],
  "socket-monitor": ["OPSCTL_LOG_DIR", SOCKET_LOG_FILE, judgeReadings],
  "alert-rules": ["OPSCTL_LOG_DIR", LAST_PLAN_FILE, judgePlan],
} as const;

/** A part that is judged by the file that its last run left. */
export type FilePart = keyof typeof FILES;

/**
 * The health of such a part.
 *
 * Errors: CONFIG_INVALID about its directory; those of the file system, but for a file that is missing.
 */
export async function fileHealth(part: FilePart, { env, isSetUp, nowMs }: Look): Promise<Health> {
  const [directory, name, judge] = FILES[part];
  const settings = await loadSettings(commandOf(part), { optional: [directory] }, env);
  try {
    return judge(await readTextEnd(join(settings[directory], name), MAX_BYTES), nowMs());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    if (!isSetUp) return NOT_SET_UP;
    return part === "alert-rules"
      ? only(warn("RULES_NOT_PLANNED", "never planned on this host", command(PLAN + EXTRAS)))
      : only(warn("LAST_RUN_MISSING", "it has not run yet", CRON));
  }
}

function judgeMetrics(text: string, nowMs: number): Health {
  const lastMs = lastPassMs(text);
  if (lastMs === null) return only(fail("LAST_RUN_UNREADABLE", "the metrics file has no time", CRON));
  const failing = failedSources(text);
  const fix = command("opsctl collect-metrics --stdout");
  const sources =
    failing.length === 0
      ? pass("every source read")
      : warn("SOURCE_FAILED", `not read: ${failing.join(", ")}`, fix);
  const age = ageOf(nowMs - lastMs, "every minute", STALE_PASS_MS, fail);
  return { results: [age.result, sources], facts: { ageSeconds: age.seconds, failing } };
}

function judgeReadings(text: string, nowMs: number): Health {
  const last = lastReadings(text);
  if (last === null)
    return only(warn("LAST_RUN_UNREADABLE", "the last line of its log cannot be read", CRON));
  const { timeMs, total, threshold } = last;
  const counted = `${total} TCP sockets`;
  const sockets =
    total === null
      ? warn("SOCKETS_UNREADABLE", "the sockets could not be counted", command("apt-get install iproute2"))
      : threshold !== null && total > threshold
        ? warn("SOCKETS_ABOVE_THRESHOLD", `${counted}, more than ${threshold}`, command("ss -s"))
        : pass(counted);
  const age = ageOf(nowMs - timeMs, "every five minutes", STALE_READINGS_MS, warn);
  return { results: [age.result, sockets], facts: { ageSeconds: age.seconds, total, threshold } };
}

/** The result for a run that was this long ago, where one is due `every` so often, and its age in seconds. */
function ageOf(ageMs: number, every: string, limitMs: number, fault: typeof warn) {
  const text = `last run ${shortTime(ageMs)} ago`;
  const seconds = Math.max(0, Math.round(ageMs / 1000));
  const ahead = `last run dated ${shortTime(-ageMs)} in the future: a clock is wrong`;
  if (isToCome(ageMs)) return { result: fault("CLOCK_WRONG", ahead, SET_CLOCK), seconds };
  const stale = fault("LAST_RUN_STALE", `${text}, one is due ${every}`, CRON);
  return { result: ageMs > limitMs ? stale : pass(text), seconds };
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
  if (plan.differ > 0)
    return only(
      warn("RULES_DIFFER", `${line}, ${plan.differ} of them differ`, command(APPLY + extras)),
      plan,
    );
  if (ageMs <= PLAN_LIMIT_MS) return only(pass(`${line}, as in the code`), plan);
  const old = note("RULES_NOT_CHECKED", `${line}; not checked for 30 days`, command(PLAN + extras));
  return { ...only(old, plan), isOutdated: true };
}

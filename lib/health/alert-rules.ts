import { LAST_PLAN_FILE, parseLastPlan } from "../alert-rules/last-plan.ts";
import { isToCome } from "../time/to-come.ts";
import { ageText } from "./age-text.ts";
import { type CheckResult, command, type Health, note, pass, SET_CLOCK, warn } from "./result.ts";

const PLAN = "opsctl alert-rules plan";
const APPLY = "opsctl alert-rules apply";
const EXTRAS = " --with-extras";
/** A result older than this may be outdated: people change rules in Grafana as well. */
const MAX_AGE_MS = 30 * 86_400_000;

/** The health of the alert rules by the file that the last `plan` or `apply` left; null where there is none. */
export function alertRulesHealth(text: string | null, nowMs: number): Health {
  if (text === null)
    return only(warn("RULES_NOT_PLANNED", "never planned on this host", command(PLAN + EXTRAS)));
  const plan = parseLastPlan(text);
  if (plan === null)
    return only(warn("LAST_RUN_UNREADABLE", `${LAST_PLAN_FILE} cannot be read`, command(PLAN + EXTRAS)));
  const { command: by, rules, differ, withExtras } = plan;
  const extras = withExtras ? EXTRAS : "";
  const ageMs = nowMs - Date.parse(plan.at);
  const line = `last ${by} ${ageText(ageMs)}: ${rules} rules${withExtras ? "" : " (without extras)"}`;
  if (isToCome(ageMs))
    return only(warn("CLOCK_WRONG", `the last ${by} is dated in the future`, SET_CLOCK), plan);
  const how = by === "plan" ? "differ" : "are not in place";
  if (differ > 0)
    return only(warn("RULES_DIFFER", `${line}, ${differ} of them ${how}`, command(APPLY + extras)), plan);
  if (ageMs > MAX_AGE_MS)
    return {
      ...only(note("RULES_NOT_CHECKED", `${line}; not checked for 30 days`, command(PLAN + extras)), plan),
      isOutdated: true,
    };
  return only(pass(`${line}, as in the code`), plan);
}

function only(result: CheckResult, facts: object | null = null): Health {
  return { lines: [[result]], facts };
}

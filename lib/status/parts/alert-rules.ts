import { join } from "node:path";
import {
  LAST_PLAN_FILE,
  LAST_PLAN_MAX_BYTES,
  type LastPlan,
  parseLastPlan,
} from "../../alert-rules/last-plan.ts";
import { logDirectory } from "../../platform/config/directories.ts";
import { isToCome } from "../../time/to-come.ts";
import { ageText } from "../age-text.ts";
import type { StatusDependencies } from "../dependencies.ts";
import { attention, late, NOT_SET_UP, ok, type PartReport } from "../part.ts";
import { isMeantToWork, settingsOf, unreadable } from "../part-settings.ts";
import { readFileInTime } from "../reading.ts";

const command = "alert-rules";
const PLAN = "sudo opsctl alert-rules plan";
const EXTRAS = " --with-extras";
const DAY_MS = 86_400_000;
/** What was found longer ago says nothing any more: people change the rules on the platform, too. */
const MAX_AGE_DAYS = 30;

/** What the last `plan` or `apply` on this host found; the platform is not asked. */
export async function alertRulesStatus(dependencies: StatusDependencies): Promise<PartReport> {
  const { viewer } = dependencies;
  const settings = settingsOf(command, dependencies);
  if (settings.status === "failed") return unreadable("its settings", settings.code, viewer, command);
  const logDir = await logDirectory(settings.env);
  if (logDir === null)
    return attention(["OPSCTL_LOG_DIR is no absolute path"], `sudo opsctl doctor ${command}`);
  const read = await readFileInTime(dependencies, join(logDir, LAST_PLAN_FILE), LAST_PLAN_MAX_BYTES);
  if (read.status === "late") return late(`sudo opsctl doctor ${command}`);
  if (read.status === "failed") return unreadable("what the last plan left", read.code, viewer, command);
  if (read.value === null)
    return isMeantToWork(command, settings.env)
      ? attention(["never planned on this host"], PLAN + EXTRAS)
      : NOT_SET_UP;
  const plan = parseLastPlan(read.value);
  if (plan === null) return attention([`${LAST_PLAN_FILE} cannot be read`], PLAN + EXTRAS);
  return judgePlan(plan, dependencies.nowMs());
}

/** The report over what the last `plan` or `apply` found; one that is too old, or of the future, says nothing. */
export function judgePlan(plan: LastPlan, nowMs: number): PartReport {
  const { command: by, rules, differ, withExtras } = plan;
  const which = `${rules} rules${withExtras ? "" : " (without extras)"}`;
  const found =
    differ === 0 ? "as in the code" : `${differ} of them ${by === "plan" ? "differ" : "are not in place"}`;
  const extras = withExtras ? EXTRAS : "";
  const ageMs = nowMs - Date.parse(plan.at);
  const line = `last ${by} ${ageText(ageMs)}: ${which}, ${found}`;
  if (isToCome(ageMs)) return attention([line], PLAN + extras, plan);
  if (ageMs > MAX_AGE_DAYS * DAY_MS)
    return attention([`${line} then; older than ${MAX_AGE_DAYS} days`], PLAN + extras, plan);
  return differ === 0 ? ok([line], plan) : attention([line], `sudo opsctl alert-rules apply${extras}`, plan);
}

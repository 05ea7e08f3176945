import { join } from "node:path";
import {
  LAST_PLAN_FILE,
  LAST_PLAN_MAX_BYTES,
  type LastPlan,
  parseLastPlan,
} from "../../alert-rules/last-plan.ts";
import { logDirectory } from "../../platform/config/log-directory.ts";
import type { StatusDependencies } from "../dependencies.ts";
import { attention, late, NOT_SET_UP, ok, type PartReport } from "../part.ts";
import { isMeantToWork, settingsOf, unreadable } from "../part-settings.ts";
import { readFileInTime } from "../reading.ts";
import { shortTime } from "../short-time.ts";

const command = "alert-rules";
const PLAN = "sudo opsctl alert-rules plan --with-extras";

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
      ? attention(["never planned on this host"], PLAN)
      : NOT_SET_UP;
  const plan = parseLastPlan(read.value);
  if (plan === null) return attention([`${LAST_PLAN_FILE} cannot be read`], PLAN);
  return judgePlan(plan, dependencies.nowMs());
}

/** The report over what the last `plan` or `apply` found. */
export function judgePlan(plan: LastPlan, nowMs: number): PartReport {
  const { command: by, rules, differ, withExtras } = plan;
  const which = `${rules} rules${withExtras ? "" : " (without extras)"}`;
  const found =
    differ === 0 ? "as in the code" : `${differ} of them ${by === "plan" ? "differ" : "are not in place"}`;
  const lines = [`last ${by} ${shortTime(nowMs - Date.parse(plan.at))} ago: ${which}, ${found}`];
  if (differ === 0) return ok(lines, plan);
  return attention(lines, `sudo opsctl alert-rules apply${withExtras ? " --with-extras" : ""}`, plan);
}

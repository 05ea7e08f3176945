import type { GrafanaClient } from "../providers/grafana/client.ts";
import { renderDuration } from "./duration.ts";
import { type AlertRule, RULE_GROUPS } from "./rules/rule.ts";

/**
 * A sentence for every group that is evaluated too seldom for its rules, or whose interval cannot be read.
 *
 * Behaviour: a rule needs an evaluation within its `for`; a rule without `for` needs one within the time that its query
 *            looks back, or lines pass unseen. opsctl does not change the group's interval.
 */
export async function groupWarnings(
  platform: GrafanaClient,
  rules: readonly AlertRule[],
  folderUid: string,
): Promise<string[]> {
  const found = await Promise.all(
    RULE_GROUPS.map(async (group) => {
      const reading = await platform.groupInterval(folderUid, group);
      if (reading.status !== "ok")
        return `The interval of the group ${group} could not be read (${reading.problem.code})`;
      return reading.value === null ? null : intervalWarning(group, reading.value, rules);
    }),
  );
  return found.filter((warning) => warning !== null);
}

/** What is wrong with a group that is evaluated every `intervalSeconds`; null when nothing is. */
export function intervalWarning(
  group: string,
  intervalSeconds: number,
  rules: readonly AlertRule[],
): string | null {
  const needs = rules
    .filter((rule) => rule.group === group)
    .map(({ forSeconds, lookbackSeconds }) => forSeconds || lookbackSeconds)
    .filter((seconds) => seconds > 0);
  const shortest = Math.min(...needs);
  if (intervalSeconds <= shortest) return null;
  const [is, needed] = [intervalSeconds, shortest].map((seconds) => renderDuration(seconds * 1000));
  return `The group ${group} is evaluated every ${is}, which is longer than the ${needed} that its quickest rule needs`;
}

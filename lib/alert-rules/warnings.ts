import type { GrafanaClient } from "../providers/grafana/client.ts";
import { renderDuration } from "./duration.ts";
import type { Receivers } from "./rule-document.ts";
import { type AlertRule, RULE_GROUPS } from "./rules/rule.ts";

/** The problems of the receivers for these rules, a sentence each. */
export function receiverWarnings(rules: readonly AlertRule[], { main, fallback }: Receivers): string[] {
  const watching = rules.filter(({ watchesWebhook }) => watchesWebhook === true).length;
  if (watching === 0 || main === null) return [];
  const subject = `The ${watching} rules on the webhook itself`;
  if (fallback === null)
    return [
      `${subject} have no receiver of their own and follow the notification policies; name one with --fallback-receiver`,
    ];
  return fallback === main ? [`${subject} go to ${JSON.stringify(main)}, like all others`] : [];
}

/**
 * A sentence for every group that is evaluated too seldom for its rules, or whose interval cannot be read.
 *
 * Behaviour: a rule needs an evaluation within its `for`; a rule without `for` needs one within the time that its query
 *            looks back, or lines pass unseen. opsctl does not change the group's interval.
 */
export async function groupWarnings(
  grafana: GrafanaClient,
  rules: readonly AlertRule[],
  folderUid: string,
): Promise<string[]> {
  const found = await Promise.all(
    RULE_GROUPS.map(async (group) => {
      const reading = await grafana.groupInterval(folderUid, group);
      if (reading.status !== "ok")
        return `The interval of the group ${group} could not be read (${reading.problem.code})`;
      const needs = rules
        .filter((rule) => rule.group === group)
        .map(({ forSeconds, lookbackSeconds }) => forSeconds || lookbackSeconds)
        .filter((seconds) => seconds > 0);
      const [interval, needed] = [reading.value ?? 0, Math.min(...needs)];
      if (interval <= needed) return null;
      const [is, most] = [interval, needed].map((seconds) => renderDuration(seconds * 1000));
      return `The group ${group} is evaluated every ${is}, but its quickest rule needs an evaluation every ${most}`;
    }),
  );
  return found.filter((warning) => warning !== null);
}

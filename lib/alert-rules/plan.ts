import { OpsError } from "../platform/errors.ts";
import { member } from "../platform/http/answer.ts";
import type {
  GrafanaClient,
  GrafanaProblem,
  GrafanaReading,
  ListedRule,
} from "../providers/grafana/client.ts";
import type { NotificationSettings, RuleDocument } from "../providers/grafana/document.ts";
import { type FieldChange, fieldChanges } from "./compare.ts";
import { type GrafanaUids, type Receivers, ruleDocument } from "./rule-document.ts";
import { type AlertRule, RULE_GROUPS } from "./rules/rule.ts";

/** How results name a rule. */
export type RuleName = { uid: string; title: string; group: string };

/**
 * What to do with one rule, and why.
 *
 * Shape: `conflict`: another rule, `conflictsWith`, has this title in this group, and neither is touched. `changes` is
 *        filled for an update only.
 */
export type PlannedRule = RuleName & {
  action: "create" | "update" | "none" | "conflict";
  changes: FieldChange[];
  conflictsWith: string | null;
  document: RuleDocument;
};

/**
 * Compares the rules with Grafana's; reads only.
 *
 * Errors: MONITORING_FOLDER_NOT_FOUND, MONITORING_RECEIVER_NOT_FOUND, MONITORING_HTTP_<status> and the like.
 */
export async function planRules(
  grafana: GrafanaClient,
  rules: readonly AlertRule[],
  uids: GrafanaUids,
  receivers: Receivers,
): Promise<PlannedRule[]> {
  const [folder, list] = await Promise.all([grafana.folderPath(uids.folder), grafana.listRules()]);
  const listed = mustRead(list, "read the list of alert rules") ?? [];
  if (mustRead(folder, "read the folder of the alert rules") === null)
    throw new OpsError({
      code: "MONITORING_FOLDER_NOT_FOUND",
      message: `Cannot place the alert rules: Grafana has no folder with the uid ${uids.folder}`,
      hint: "Create the folder in Grafana, or name another with MONITORING_FOLDER_UID or --folder-uid",
    });
  await checkReceivers(grafana, receivers);
  return rules.map((rule) => decideRule(ruleDocument(rule, uids, receivers), listed));
}

/** How far the rules on logs look back: between two evaluations that are further apart, lines pass unseen. */
const LOG_MINUTES = 5;

/** A sentence for every group that Grafana evaluates less often than its rules need: their `for`, or how far they look back. */
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
      const waits = rules
        .filter((rule) => rule.group === group)
        .flatMap(({ source, condition }) => condition.forMinutes ?? (source === "logs" ? LOG_MINUTES : []));
      const [interval, shortest] = [reading.value ?? 0, Math.min(...waits) * 60];
      if (interval <= shortest) return null;
      return `The group ${group} is evaluated every ${interval} s, but its quickest rule needs an evaluation every ${shortest} s`;
    }),
  );
  return found.filter((warning) => warning !== null);
}

/** The problems of the receivers for these rules, a sentence each. */
export function receiverWarnings(rules: readonly AlertRule[], { main, fallback }: Receivers): string[] {
  const subject = "The rules on the webhook itself";
  if (main === undefined || !rules.some(({ watchesWebhook }) => watchesWebhook)) return [];
  if (fallback === main) return [`${subject} go to ${JSON.stringify(main)}, like all others`];
  if (fallback !== undefined) return [];
  return [
    `${subject} have no receiver and follow the notification policies; name one with --fallback-receiver`,
  ];
}

/** What to do with a rule, given the list of all of Grafana's rules. */
function decideRule(document: RuleDocument, listed: readonly ListedRule[]): PlannedRule {
  const { uid, title, folderUID, ruleGroup: group } = document;
  const planned = { uid, title, group, changes: [], conflictsWith: null, document };
  const other = listed.find(
    (rule) =>
      rule.uid !== uid && rule.title === title && rule.folderUID === folderUID && rule.ruleGroup === group,
  );
  if (other !== undefined) return { ...planned, action: "conflict", conflictsWith: other.uid };
  const present = listed.find((rule) => rule.uid === uid)?.stored;
  if (present === undefined) return { ...planned, action: "create" };
  const changes = fieldChanges(present, document);
  const action = changes.length === 0 ? "none" : "update";
  return { ...planned, action, changes, document: withKeptSettings(document, present) };
}

/** The document with what a person set about the rule's notifications: a write replaces the whole rule. */
function withKeptSettings(document: RuleDocument, present: object): RuleDocument {
  const kept = member(present, "notification_settings");
  if (typeof kept !== "object" || kept === null) return document;
  const settings = { ...kept, ...document.notification_settings } as NotificationSettings;
  return { ...document, notification_settings: settings };
}

/** Names a missing receiver before anything is written. */
async function checkReceivers(grafana: GrafanaClient, { main, fallback }: Receivers): Promise<void> {
  if (main === undefined && fallback === undefined) return;
  const known = mustRead(await grafana.contactPoints(), "read the contact points") ?? [];
  const missing = [main, fallback].find(
    (name) => name !== undefined && !known.some((point) => point.name === name),
  );
  if (missing === undefined) return;
  throw new OpsError({
    code: "MONITORING_RECEIVER_NOT_FOUND",
    message: `Cannot send the alert rules to ${JSON.stringify(missing)}: Grafana has no contact point of this name`,
    hint:
      "Create it: opsctl alert-rules contact-point apply; or correct --receiver, --fallback-receiver. Grafana does " +
      "not list what the service account may not read",
  });
}

/** What was read, null when Grafana does not have it; throws MONITORING_… when it could not be read. */
export function mustRead<T>(reading: GrafanaReading<T>, attempt: string): T | null {
  if (reading.status === "ok") return reading.value;
  throw grafanaError(reading.problem, attempt);
}

/** A failed call to Grafana as the error that ends the command: MONITORING_… */
export function grafanaError({ code, status, message }: GrafanaProblem, attempt: string): OpsError {
  const answer = status === null ? "no answer from Grafana" : `Grafana answered ${status}`;
  return new OpsError({
    code: code.toUpperCase(),
    message: `Cannot ${attempt}: ${answer}${message === null ? "" : ` (${message})`}`,
    hint: hintFor(status),
  });
}

function hintFor(status: number | null): string {
  if (status === 401)
    return "MONITORING_TOKEN has to be a service-account token (glsa_…), not an access-policy token (glc_…)";
  if (status === 403)
    return "Let the service account read folders, and read and write provisioned alert rules and contact points";
  return "MONITORING_URL has to be Grafana's own address, without a login page before it; running again is safe";
}

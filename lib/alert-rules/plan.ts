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
import type { AlertRule } from "./rules/rule.ts";

/**
 * What to do with one rule, and why.
 *
 * Shape: `conflict`: another rule has this title in this group, and neither is touched. `changes` is filled for an
 *        update only.
 */
export type PlannedRule = {
  uid: string;
  title: string;
  group: string;
  action: "create" | "update" | "none" | "conflict";
  changes: FieldChange[];
  /** For a conflict: the uid of the other rule that has the title. */
  conflictsWith: string | null;
  document: RuleDocument;
};

/**
 * Compares the rules with Grafana's; reads only.
 *
 * Errors: MONITORING_FOLDER_NOT_FOUND, MONITORING_RECEIVER_NOT_FOUND, MONITORING_HTTP_<status>, MONITORING_UNREACHABLE
 *         and the other codes of a call.
 */
export async function planRules(
  grafana: GrafanaClient,
  rules: readonly AlertRule[],
  uids: GrafanaUids,
  receivers: Receivers,
): Promise<PlannedRule[]> {
  const [folder, list] = await Promise.all([grafana.folderPath(uids.folder), grafana.listRules()]);
  const listed = mustRead(list, "read the list of alert rules") ?? [];
  // A token that may write rules may be forbidden to read folders; then Grafana judges at the first write.
  if (!isForbidden(folder) && mustRead(folder, "read the folder of the alert rules") === null)
    throw new OpsError({
      code: "MONITORING_FOLDER_NOT_FOUND",
      message: `Cannot place the alert rules: Grafana has no folder with the uid ${uids.folder}`,
      hint: "Create the folder in Grafana, or name another with MONITORING_FOLDER_UID or --folder-uid",
    });
  await checkReceivers(grafana, receivers);
  const documents = rules.map((rule) => ruleDocument(rule, uids, receivers));
  return await Promise.all(
    documents.map(async (document) => {
      const present = mustRead(await grafana.readRule(document.uid), `read the alert rule ${document.uid}`);
      return decideRule(document, present, listed);
    }),
  );
}

/** What to do with a rule, given Grafana's rule of the same uid and the list of all its rules. */
function decideRule(
  document: RuleDocument,
  present: object | null,
  listed: readonly ListedRule[],
): PlannedRule {
  const { uid, title, folderUID, ruleGroup: group } = document;
  const planned = { uid, title, group, changes: [], conflictsWith: null, document };
  const other = listed.find(
    (rule) =>
      rule.uid !== uid && rule.title === title && rule.folderUID === folderUID && rule.ruleGroup === group,
  );
  if (other !== undefined) return { ...planned, action: "conflict", conflictsWith: other.uid };
  if (present === null) return { ...planned, action: "create" };
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

/** Names a missing receiver before anything is written; a token that may not look leaves that to Grafana. */
async function checkReceivers(grafana: GrafanaClient, receivers: Receivers): Promise<void> {
  const names = [receivers.main, receivers.fallback].filter((name) => name !== null);
  if (names.length === 0) return;
  const reading = await grafana.contactPoints();
  if (isForbidden(reading)) return;
  const known = new Set(mustRead(reading, "read the contact points")?.map(({ name }) => name));
  const missing = names.find((name) => !known.has(name));
  if (missing === undefined) return;
  throw new OpsError({
    code: "MONITORING_RECEIVER_NOT_FOUND",
    message: `Cannot send the alert rules to ${JSON.stringify(missing)}: Grafana has no contact point of this name`,
    hint:
      "Create it: opsctl alert-rules contact-point apply; or correct --receiver, --fallback-receiver. Grafana does " +
      "not list what the service account may not read",
  });
}

function isForbidden(reading: GrafanaReading<unknown>): boolean {
  return reading.status === "failed" && reading.problem.status === 403;
}

/**
 * What was read; null when Grafana does not have it.
 *
 * Errors: MONITORING_… when it could not be read.
 */
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
    hint: hintFor(code, status),
  });
}

function hintFor(code: string, status: number | null): string {
  if (status === 401)
    return "MONITORING_TOKEN has to be a service-account token (glsa_…), not an access-policy token (glc_…)";
  if (status === 403)
    return "Give the service account the right to read and write provisioned alert rules and contact points";
  if (code === "monitoring_answer_unreadable" || (status !== null && status < 500))
    return "MONITORING_URL has to be Grafana's own base address, without a login page before it";
  return "Check MONITORING_URL and Grafana; running again is safe";
}

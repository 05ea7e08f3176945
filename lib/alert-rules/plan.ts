import { OpsError } from "../platform/errors.ts";
import { member } from "../platform/http/answer.ts";
import type {
  GrafanaClient,
  ListedRule,
  PlatformProblem,
  PlatformReading,
} from "../providers/grafana/client.ts";
import type { NotificationSettings, RuleDocument } from "../providers/grafana/document.ts";
import { type FieldChange, fieldChanges } from "./changes.ts";
import type { Receivers } from "./receivers.ts";
import { type PlatformUids, ruleDocument } from "./rule-document.ts";
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
 * Compares the rules with the platform's; reads only.
 *
 * Errors: MONITORING_FOLDER_NOT_FOUND, MONITORING_RECEIVER_NOT_FOUND, MONITORING_HTTP_<status>, MONITORING_UNREACHABLE
 *         and the other codes of a call.
 */
export async function planRules(
  platform: GrafanaClient,
  rules: readonly AlertRule[],
  uids: PlatformUids,
  receivers: Receivers,
): Promise<PlannedRule[]> {
  const [folder, list] = await Promise.all([platform.folderPath(uids.folder), platform.listRules()]);
  const listed = mustRead(list, "read the list of alert rules") ?? [];
  // A token that may write rules may be forbidden to read folders; then the platform judges at the first write.
  const isHidden = folder.status !== "ok" && folder.problem.status === 403;
  if (!isHidden && mustRead(folder, "read the folder of the alert rules") === null)
    throw folderMissing(uids.folder);
  await checkReceivers(platform, receivers);
  const documents = rules.map((rule) => ruleDocument(rule, uids, receivers));
  const readings = await Promise.all(documents.map(({ uid }) => platform.readRule(uid)));
  return documents.map((document, index) => {
    const reading = readings[index] as PlatformReading<object>;
    return decideRule(document, mustRead(reading, `read the alert rule ${document.uid}`), listed);
  });
}

/** What to do with a rule, given the platform's rule of the same uid and the list of all its rules. */
function decideRule(
  document: RuleDocument,
  present: object | null,
  listed: readonly ListedRule[],
): PlannedRule {
  const { uid, title, folderUID, ruleGroup: group } = document;
  const planned = { uid, title, group, changes: [], conflictsWith: null, document };
  const twin = listed.find(
    (rule) =>
      rule.uid !== uid && rule.title === title && rule.folderUID === folderUID && rule.ruleGroup === group,
  );
  if (twin !== undefined) return { ...planned, action: "conflict", conflictsWith: twin.uid };
  if (present === null) return { ...planned, action: "create" };
  const changes = fieldChanges(present, document);
  const action = changes.length === 0 ? "none" : "update";
  return { ...planned, action, changes, document: withKeptSettings(document, present) };
}

/** The document with what a person set about the notifications of the present rule: a write replaces all of a rule. */
function withKeptSettings(document: RuleDocument, present: object): RuleDocument {
  const kept = member(present, "notification_settings");
  if (typeof kept !== "object" || kept === null) return document;
  const settings = { ...kept, ...document.notification_settings } as NotificationSettings;
  return { ...document, notification_settings: settings };
}

/** Names a missing receiver before anything is written; a token that may not look leaves that to the platform. */
async function checkReceivers(platform: GrafanaClient, receivers: Receivers): Promise<void> {
  const names = [receivers.main, receivers.fallback].filter((name) => name !== null);
  if (names.length === 0) return;
  const reading = await platform.contactPoints();
  if (reading.status !== "ok" && reading.problem.status === 403) return;
  const known = new Set(mustRead(reading, "read the contact points")?.map(({ name }) => name));
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) throw receiverMissing(missing);
}

function receiverMissing(name: string): OpsError {
  return new OpsError({
    code: "MONITORING_RECEIVER_NOT_FOUND",
    message: `Cannot send the alert rules to ${JSON.stringify(name)}: the platform has no contact point of this name`,
    hint:
      "Make it: opsctl alert-rules contact-point apply; or correct --receiver, --fallback-receiver. The platform leaves out " +
      "what the service account may not read",
  });
}

function mustRead<T>(reading: PlatformReading<T>, attempt: string): T | null {
  if (reading.status === "ok") return reading.value;
  throw platformError(reading.problem, attempt);
}

/** A problem of the platform as the failure that ends the command: MONITORING_… */
export function platformError({ code, status, message }: PlatformProblem, attempt: string): OpsError {
  const answer = status === null ? "the platform gave no answer" : `the platform answered ${status}`;
  return new OpsError({
    code: code.toUpperCase(),
    message: `Cannot ${attempt}: ${answer}${message === null ? "" : ` (${message})`}`,
    hint: hintFor(code, status),
  });
}

function hintFor(code: string, status: number | null): string {
  if (status === 401)
    return "MONITORING_TOKEN has to be a service-account token (glsa_…); an access-policy token (glc_…) is another thing";
  if (status === 403)
    return "Give the service account the right to read and write provisioned alert rules and contact points";
  if (code === "monitoring_answer_unreadable" || (status !== null && status < 500))
    return "MONITORING_URL has to be the platform's own base address, without a login page before it";
  return "Look at MONITORING_URL and the platform; running again is safe";
}

function folderMissing(uid: string): OpsError {
  return new OpsError({
    code: "MONITORING_FOLDER_NOT_FOUND",
    message: `Cannot place the alert rules: the platform has no folder with the uid ${uid}`,
    hint: "Make the folder on the platform, or name another with MONITORING_FOLDER_UID or --folder-uid",
  });
}

import { alertnameOf } from "../alert/name.ts";
import type { AlertAnswer } from "../alert-answer.ts";
import type { AcceptedAlert } from "../state/contract.ts";
import { issueIdOf } from "./attempts/issue-id.ts";

/** The answer for an alert that the state keeps, while nothing of it has been delivered. */
export function keptAnswer({ alert, issue }: AcceptedAlert): AlertAnswer {
  const { labels, status, squad, fingerprint } = alert;
  const plain = { alertname: alertnameOf(labels), status, squad, fingerprint, whatsapp: "queued" as const };
  if (issue.status !== "duplicate")
    return { ...plain, issue: issue.status === "first" ? "queued" : "not_firing" };
  return { ...plain, issue: "duplicate", issueId: issueIdOf(fingerprint, issue.claimedAtMs) };
}

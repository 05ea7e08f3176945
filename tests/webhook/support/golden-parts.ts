import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";
import {
  issuePriority,
  issueTitle,
  renderIssueBody,
  renderResolvedComment,
} from "../../../lib/webhook/texts/issue/issue.ts";
import { type MessageContext, renderMessage } from "../../../lib/webhook/texts/message/message-text.ts";

const FOLDER = new URL("../../fixtures/alerts/", import.meta.url);
/** When the texts are made: five minutes after most of the alerts began. */
const GOLDEN_NOW_MS = Date.parse("2026-03-02T08:20:40Z");

/** Bodies that are sent again, late, or first after WhatsApp was away. */
const CONTEXTS: Record<string, Partial<MessageContext>> = {
  "alertmanager-node": { isRepeat: true },
  "grafana-disk": { waitedMs: 42 * 60_000 },
  "grafana-truncated": { note: { emailed: 3, undelivered: 1 } },
};

const BETWEEN = `\n${"=".repeat(40)}\n`;

/** The context of a message that is sent at once. */
export const AT_ONCE: MessageContext = {
  issueUrl: null,
  isRepeat: false,
  nowMs: GOLDEN_NOW_MS,
  waitedMs: 0,
  note: { emailed: 0, undelivered: 0 },
};

/** The names of the bodies in tests/fixtures/alerts. */
export function alertFixtures(): string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ""))
    .sort();
}

/** One of these bodies, parsed. */
function fixtureBody(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));
}

/** Its alerts; a fixture has no bad ones. */
export function fixtureAlerts(name: string): Alert[] {
  const parsed = parseAlerts(fixtureBody(name));
  if (!("alerts" in parsed) || parsed.rejected.length > 0) throw new Error(`${name} has bad alerts`);
  return parsed.alerts;
}

/** The texts that people read because of a body, by the ending of their golden files. */
export function goldenParts(name: string): Record<string, string> {
  const alerts = fixtureAlerts(name);
  const messages = alerts.map(
    (alert) => `${renderMessage(alert, { ...contextOf(alert), ...CONTEXTS[name] })}\n`,
  );
  const issues = alerts.filter(({ firing }) => firing).map(issueText);
  const comments = alerts.filter(({ status }) => status === "resolved").map(renderResolvedComment);
  return {
    "whatsapp.txt": messages.join(BETWEEN),
    ...(issues.length > 0 ? { "issue.md": issues.join(BETWEEN) } : {}),
    ...(comments.length > 0 ? { "comment.md": `${comments.join(BETWEEN)}\n` } : {}),
  };
}

function contextOf(alert: Alert): MessageContext {
  return { ...AT_ONCE, issueUrl: issueUrlOf(alert) };
}

function issueUrlOf({ squad }: Alert): string | null {
  return squad === "security" ? "https://linear.app/example/issue/OPS-7/alerta-security" : null;
}

function issueText(alert: Alert): string {
  return `${issueTitle(alert)}\nPriority: ${issuePriority(alert.severity)}\n\n${renderIssueBody(alert)}`;
}

/** One hash over all texts, to compare processes by. */
export function hashOfAllTexts(): string {
  return createHash("sha256")
    .update(JSON.stringify(alertFixtures().map(goldenParts)))
    .digest("hex");
}

if (import.meta.main) process.stdout.write(hashOfAllTexts());

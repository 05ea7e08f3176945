import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";
import { issuePriority, issueTitle, renderIssueBody } from "../../../lib/webhook/texts/issue.ts";
import { renderMessage } from "../../../lib/webhook/texts/message-text.ts";

const FOLDER = new URL("../../fixtures/alerts/", import.meta.url);
const BETWEEN = `\n${"=".repeat(40)}\n`;

/** The names of the bodies in tests/fixtures/alerts. */
export function alertFixtures(): string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ""))
    .sort();
}

/** One of these bodies, parsed. */
export function fixtureBody(name: string): unknown {
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
  const messages = alerts.map((alert) => `${renderMessage(alert, { issueUrl: issueUrlOf(alert) })}\n`);
  const issues = alerts.filter(({ firing }) => firing).map(issueText);
  return {
    "whatsapp.txt": messages.join(BETWEEN),
    ...(issues.length > 0 ? { "issue.md": issues.join(BETWEEN) } : {}),
  };
}

function issueUrlOf({ squad }: Alert): string | null {
  return squad === "security" ? "https://linear.app/example/issue/OPS-7/alerta-security" : null;
}

function issueText(alert: Alert): string {
  return `${issueTitle(alert)}\nPriority: ${issuePriority(alert.severity)}\n\n${renderIssueBody(alert)}`;
}

/** One hash over all texts, to compare runtimes by. */
export function hashOfAllTexts(): string {
  return createHash("sha256")
    .update(JSON.stringify(alertFixtures().map(goldenParts)))
    .digest("hex");
}

if (import.meta.main) process.stdout.write(hashOfAllTexts());

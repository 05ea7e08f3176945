import { hash } from "node:crypto";
import { truncate } from "../../../text/truncate.ts";
import { COMMON_LABELS } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { isShownWhole, whatsappLabel, whatsappName } from "../sender-text.ts";
import { severityWord } from "../wording.ts";

/** How much a message shows of a severity that is not known. */
const MAX_SEVERITY_UNITS = 60;

/** Links of the platform that have the rule's own id in them. */
const NAMES_RULE =
  /\/alerting\/grafana\/[^/?]+\/view|[?&]matcher=(?:_|%5F){2}alert_rule_uid(?:_|%5F){2}(?:%3D|=)/i;

/** What separates two labels; one that contains it looks like two. */
const BETWEEN = "·";

/** Instead of the digits of a hash: they make no words and no telephone numbers. */
const LETTERS = "bcdfghjkmnpqrstv";

/** The labels that a text does not show elsewhere, on one line sorted by name: `instance=main · mountpoint=/`. */
export function labelLine({ labels }: Pick<Alert, "labels">, shown = whatsappLabel): string {
  const isTrouble = datasourceTrouble(labels) !== null;
  return Object.keys(labels)
    .filter((name) => !COMMON_LABELS.has(name) && !(isTrouble && name === "rulename"))
    .sort()
    .map((name) => `${shown(name)}=${shown(labels[name]!)}`)
    .join(` ${BETWEEN} `);
}

/** A severity as a message shows it; empty without one. */
export function shownSeverity(severity: string | null): string {
  return severityWord(severity) ?? truncate(whatsappLabel(severity ?? ""), MAX_SEVERITY_UNITS);
}

/**
 * Whether a message with these links, whose texts are whole, shows an alert's labels so that no others look alike.
 *
 * Behaviour: a folder counts as shown where a link names the rule, since a rule is in one folder.
 */
export function showsLabels({ name: title, labels }: Alert, links: readonly string[]): boolean {
  const isTrouble = datasourceTrouble(labels) !== null;
  const isTitle = (value: string) => value === title && whatsappName(value) === value && value !== NAMELESS;
  return Object.entries(labels).every(([name, value]) => {
    // Without this label, the title is the platform's own word.
    if (isTrouble && name === "rulename") return isTitle(value) && value !== labels.alertname;
    if (name === "alertname") return isTrouble || isTitle(value);
    if (name === "severity") return showsSeverity(value);
    if (name === "ruleGroup") return value === "vps-infra" || value === "vps-security";
    if (name === "grafana_folder") return links.some((link) => NAMES_RULE.test(link));
    return isDistinct(name, value);
  });
}

/** The fingerprint and all labels of an alert as one text. */
export function labelKey({ labels, fingerprint }: Pick<Alert, "labels" | "fingerprint">): string {
  return JSON.stringify([fingerprint, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** A short text that stands for the fingerprint and all labels of an alert: `#bcdfghjk`. */
export function labelMark(alert: Pick<Alert, "labels" | "fingerprint">): string {
  const digits = hash("sha256", labelKey(alert)).slice(0, 8);
  return `#${Array.from(digits, (digit) => LETTERS[Number.parseInt(digit, 16)]).join("")}`;
}

/** Our own words begin with a capital letter. */
function showsSeverity(value: string): boolean {
  const isWhole = severityWord(value) !== null || (shownSeverity(value) === value && value !== "");
  return isWhole && value === value.trim().toLowerCase() && !value.includes(BETWEEN);
}

function isDistinct(name: string, value: string): boolean {
  return !name.includes("=") && [name, value].every((text) => isShownWhole(text) && !text.includes(BETWEEN));
}

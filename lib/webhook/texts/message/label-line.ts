import { createHash } from "node:crypto";
import { COMMON_LABELS } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { breakLinks } from "../break-links.ts";
import { looksKnown, severityWord } from "../wording.ts";
import { isShownWhole, whatsappText } from "./whatsapp-line.ts";

/** Links of the platform that have the rule's own id in them. */
const NAMES_RULE =
  /\/alerting\/grafana\/[^/?]+\/view|[?&]matcher=(?:_|%5F){2}alert_rule_uid(?:_|%5F){2}(?:%3D|=)/i;

/** What stands between two labels, and so must not be inside one that is to be told from others. */
const BETWEEN = "·";

/** Sixteen letters that make no words and no telephone numbers. */
const LETTERS = "bcdfghjkmnpqrstv";
const MARK_LETTERS = 8;

/** The names of an alert's labels that a message does not list, because it tells them elsewhere. */
function isTold(name: string, labels: Alert["labels"]): boolean {
  return COMMON_LABELS.has(name) || (name === "rulename" && datasourceTrouble(labels) !== null);
}

/**
 * An alert's labels but the common ones, on one line sorted by name: `instance=main · mountpoint=/`; null without any.
 *
 * Shape: a line longer than `maxUnits` ends with the label that made it so: it is cut anyhow.
 */
export function labelLine({ labels }: Pick<Alert, "labels">, maxUnits: number): string | null {
  const names = Object.keys(labels).filter((name) => !isTold(name, labels));
  const shown: string[] = [];
  let units = 0;
  for (const name of names.sort()) {
    if (units > maxUnits) break;
    // Together: the "=" between them may be what makes a link of a value.
    shown.push(breakLinks(`${whatsappText(name)}=${whatsappText(labels[name]!)}`));
    units += shown.at(-1)!.length;
  }
  return shown.length === 0 ? null : shown.join(` ${BETWEEN} `);
}

/**
 * Whether a message with these links, whose texts are whole, shows an alert's labels so that no others look alike.
 *
 * Behaviour: a folder counts as shown where a link names the rule, since a rule is in one folder.
 */
export function showsLabels(alert: Alert, links: readonly string[]): boolean {
  return Object.entries(alert.labels).every(([name, value]) => {
    switch (name) {
      case "alertname":
        return datasourceTrouble(alert.labels) !== null || isName(value, alert);
      case "severity":
        return showsSeverity(value);
      case "ruleGroup":
        return value === "vps-infra" || value === "vps-security";
      case "grafana_folder":
        return links.some((link) => NAMES_RULE.test(link));
      case "rulename":
        return datasourceTrouble(alert.labels) === null ? isDistinct(name, value) : isName(value, alert);
      default:
        return isDistinct(name, value);
    }
  });
}

/** The fingerprint and all labels of an alert as one text. */
export function labelKey({ labels, fingerprint }: Pick<Alert, "labels" | "fingerprint">): string {
  return JSON.stringify([fingerprint, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** A short text that stands for the fingerprint and all labels of an alert. */
export function labelMark(alert: Pick<Alert, "labels" | "fingerprint">): string {
  const hash = createHash("sha256").update(labelKey(alert), "utf8").digest();
  return Array.from(
    hash.subarray(0, MARK_LETTERS / 2),
    (byte) => LETTERS[byte >> 4]! + LETTERS[byte & 15]!,
  ).join("");
}

function isDistinct(name: string, value: string): boolean {
  return !name.includes("=") && [name, value].every((text) => isShownWhole(text) && !text.includes(BETWEEN));
}

function isName(value: string, { name }: Alert): boolean {
  return name === value && isShownWhole(value) && !value.includes("*") && value !== NAMELESS;
}

function showsSeverity(value: string): boolean {
  if (severityWord(value) !== null) return value === value.trim().toLowerCase();
  return isDistinct("", value) && value !== "" && !looksKnown(value);
}

import { createHash } from "node:crypto";
import { COMMON_LABELS } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { looksKnown, severityWord } from "../wording.ts";
import { isShownWhole, whatsappLabel } from "./whatsapp-line.ts";

/** How much a message shows of a severity that is not known. */
export const MAX_SEVERITY_UNITS = 60;

/** Links of the platform that have the rule's own id in them. */
const NAMES_RULE =
  /\/alerting\/grafana\/[^/?]+\/view|[?&]matcher=(?:_|%5F){2}alert_rule_uid(?:_|%5F){2}(?:%3D|=)/i;

/** What separates two labels; one that contains it looks like two. */
const BETWEEN = "·";

/** Sixteen letters that make no words and no telephone numbers. */
const LETTERS = "bcdfghjkmnpqrstv";
const MARK_BYTES = 4;

/**
 * The labels that a message does not show elsewhere, on one line sorted by name: `instance=main · mountpoint=/`.
 *
 * Shape: a line longer than `maxUnits` ends with the label that made it so: it is cut anyhow.
 */
export function labelLine({ labels }: Pick<Alert, "labels">, maxUnits: number): string {
  const isTrouble = datasourceTrouble(labels) !== null;
  const isShown = (name: string) => COMMON_LABELS.has(name) || (isTrouble && name === "rulename");
  const names = Object.keys(labels).filter((name) => !isShown(name));
  const shown: string[] = [];
  let units = 0;
  for (const name of names.sort()) {
    if (units > maxUnits) break;
    shown.push(`${whatsappLabel(name)}=${whatsappLabel(labels[name]!)}`);
    units += shown.at(-1)!.length;
  }
  return shown.join(` ${BETWEEN} `);
}

/**
 * Whether a message with these links, whose texts are whole, shows an alert's labels so that no others look alike.
 *
 * Behaviour: a folder counts as shown where a link names the rule, since a rule is in one folder.
 */
export function showsLabels({ name: title, labels }: Alert, links: readonly string[]): boolean {
  const isTrouble = datasourceTrouble(labels) !== null;
  const isTitle = (value: string) =>
    value === title && isShownWhole(value) && !value.includes("*") && value !== NAMELESS;
  return Object.entries(labels).every(([name, value]) => {
    switch (name) {
      case "alertname":
        return isTrouble || isTitle(value);
      case "severity":
        return showsSeverity(value);
      case "ruleGroup":
        return value === "vps-infra" || value === "vps-security";
      case "grafana_folder":
        return links.some((link) => NAMES_RULE.test(link));
      case "rulename":
        // Without this label, the title is the platform's own word.
        return isTrouble ? isTitle(value) && value !== labels.alertname : isDistinct(name, value);
      default:
        return isDistinct(name, value);
    }
  });
}

/** The fingerprint and all labels of an alert as one text. */
export function labelKey({ labels, fingerprint }: Pick<Alert, "labels" | "fingerprint">): string {
  return JSON.stringify([fingerprint, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** A short text that stands for the fingerprint and all labels of an alert: `#bcdfghjk`. */
export function labelMark(alert: Pick<Alert, "labels" | "fingerprint">): string {
  const hash = createHash("sha256").update(labelKey(alert), "utf8").digest().subarray(0, MARK_BYTES);
  return `#${Array.from(hash, (byte) => LETTERS[byte >> 4]! + LETTERS[byte & 15]!).join("")}`;
}

function isDistinct(name: string, value: string): boolean {
  return !name.includes("=") && [name, value].every((text) => isShownWhole(text) && !text.includes(BETWEEN));
}

function showsSeverity(value: string): boolean {
  if (severityWord(value) !== null) return value === value.trim().toLowerCase();
  const isCut = whatsappLabel(value).length > MAX_SEVERITY_UNITS;
  return !isCut && isDistinct("", value) && value !== "" && !looksKnown(value);
}

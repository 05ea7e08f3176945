import { createHash } from "node:crypto";

/** Senders use 16 digits; a much longer text would only make keys and log lines long. */
const MAX_UNITS = 200;

/** Control characters, which not every store can keep in a key, and halves of characters, which some would merge. */
const UNFIT_FOR_A_KEY = /[\p{Cc}\p{Cs}]/u;

/**
 * The text by which two firings are known as the same alert.
 *
 * Shape:  the sender's own fingerprint unchanged, when it is text and not blank; its SHA-256 in hex when it is longer
 *         than 200 units or has control characters or half a character. Without one, the MD5 in hex of `alertname`, a
 *         newline and the RFC 8785 JSON of the labels; a missing `alertname` is the empty text.
 * Source: monitoring document, Dedup cache.
 */
export function fingerprintOf(alert: {
  fingerprint?: unknown;
  labels: Readonly<Record<string, string>>;
}): string {
  const { fingerprint, labels } = alert;
  if (typeof fingerprint === "string" && fingerprint.trim() !== "") return asKey(fingerprint);
  return createHash("md5")
    .update(`${labels.alertname ?? ""}\n${canonicalJson(labels)}`, "utf8")
    .digest("hex");
}

function asKey(fingerprint: string): string {
  if (fingerprint.length <= MAX_UNITS && !UNFIT_FOR_A_KEY.test(fingerprint)) return fingerprint;
  // As JSON, in which different halves of characters stay different.
  return createHash("sha256").update(JSON.stringify(fingerprint), "utf8").digest("hex");
}

/**
 * RFC 8785 for a flat object of texts.
 *
 * The general package throws for half a character, for which no alert may be lost; here it becomes JSON's escape.
 */
function canonicalJson(labels: Readonly<Record<string, string>>): string {
  const members = Object.keys(labels)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(labels[key])}`);
  return `{${members.join(",")}}`;
}

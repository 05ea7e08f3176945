import { createHash } from "node:crypto";

/** Senders use 16 digits; what is much longer would only make keys and log lines long. */
const MAX_UNITS = 200;

/** What not every store can keep in a key, and halves of characters, which some would merge. */
const UNFIT_FOR_A_KEY = /[\p{Cc}\p{Cs}]/u;

/**
 * What makes two firings the same alert.
 *
 * Shape:  the sender's own fingerprint as it is when that is text and not blank; its SHA-256 in hex where it is longer
 *         than 200 units or holds control characters or half a character. Otherwise the MD5 in hex of `alertname`, a
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
  // As JSON, in which two different halves of characters stay different.
  return createHash("sha256").update(JSON.stringify(fingerprint), "utf8").digest("hex");
}

/**
 * RFC 8785 for a flat object of texts.
 *
 * The general package refuses half a character, of which an alert must not die; here it stays the escape that JSON has
 * for it.
 */
function canonicalJson(labels: Readonly<Record<string, string>>): string {
  const members = Object.keys(labels)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(labels[key])}`);
  return `{${members.join(",")}}`;
}

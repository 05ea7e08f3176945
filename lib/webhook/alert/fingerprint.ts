import { hash } from "node:crypto";

/** What stores and log lines can keep: no control characters, no halves of characters; senders use 16 digits. */
const FIT_FOR_A_KEY = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/**
 * The text by which two firings are known as the same alert.
 *
 * Shape:  the sender's own fingerprint unchanged, when it is text of at most 200 characters, not blank and without
 *         control characters; else the MD5 in hex of `alertname`, a newline and the RFC 8785 JSON of the labels, in
 *         which a missing `alertname` is the empty text.
 * Source: monitoring document, Dedup cache.
 */
export function fingerprintOf(fingerprint: unknown, labels: Readonly<Record<string, string>>): string {
  if (typeof fingerprint === "string" && fingerprint.trim() !== "" && FIT_FOR_A_KEY.test(fingerprint))
    return fingerprint;
  // RFC 8785 of texts is JSON with sorted keys. The general package throws for half a character, which costs the alert.
  return hash("md5", `${labels.alertname ?? ""}\n${JSON.stringify(labels, Object.keys(labels).sort())}`);
}

import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Evidence } from "./evidence.ts";

/**
 * The identity of what a report says: SHA-256 over the RFC 8785 canonical JSON of its evidence.
 *
 * Shape:  { text, sha256 }: the exact text that is stored beside the report, and its digest, 64 lower-case hex digits.
 * Errors: throws when the evidence holds what JSON cannot (NaN, a lone surrogate); the report then fails.
 * Source: weekly report document, Weekly report record.
 */
export function fingerprint(evidence: Evidence): { text: string; sha256: string } {
  // Undefined is of what is no value of JSON at all, which an object is.
  const text = canonicalize(evidence)!;
  return { text, sha256: createHash("sha256").update(text, "utf8").digest("hex") };
}

import type { EvidenceRows } from "../database/evidence.ts";
import type { CallVerdict } from "../outage/breaker.ts";
import type { CollectedConnection } from "./collect.ts";
import { parseAnalysis } from "./evidence.ts";

/** What one connection's answer and row say about the application; null when there was no call. */
export function callVerdict(
  { id, network, code, failure }: CollectedConnection,
  rows: Pick<EvidenceRows, "analyses"> | null,
): CallVerdict | null {
  if (failure !== null) return failure;
  if (code !== null) return null;
  const row = rows?.analyses.find(({ connectionId, channel }) => connectionId === id && channel === network);
  return row !== undefined && parseAnalysis(row) !== null ? "good" : "no_analysis";
}

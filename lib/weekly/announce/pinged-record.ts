import type { RunRecord } from "./run-record.ts";

/**
 * The record of a run whose end also goes to a check elsewhere, which notices a run that never came.
 *
 * Behaviour: told once, beside the record: a green end, or a red one. A run that was refused, or leaves something out,
 *            says nothing of the week and is not told.
 */
export function pingedRecord(
  record: RunRecord,
  { isWhole, ping }: { isWhole: boolean; ping: (isWell: boolean) => Promise<void> },
): RunRecord {
  let told: Promise<void> | null = null;
  return {
    sentBefore: record.sentBefore,
    wait: record.wait,
    begin: record.begin,
    async end(summary) {
      if (isWhole && summary.status !== "refused") told ??= ping(summary.status === "success");
      const [ended] = await Promise.all([record.end(summary), told]);
      return ended;
    },
  };
}

/** What the runs of an arena left beside the ledger: the last-run file, and the alerts. */
import { expect } from "bun:test";
import { hasEnded } from "../../lib/last-run/process-mark.ts";
import { readLastRun } from "../../lib/last-run/read.ts";
import type { Arena } from "./arena.ts";
import type { Ended } from "./worker.ts";

/**
 * The last-run file is whole, and is that of one of these runs, which began together and have all ended.
 *
 * Behaviour: one that was killed before it began leaves what was there.
 */
export function expectLastRun({ logDir }: Arena, ended: Ended[]): void {
  const reading = readLastRun(logDir);
  const summaries = ended.flatMap(({ summary }) => (summary === null ? [] : [summary]));
  if (reading.status === "none") expect(summaries).toEqual([]);
  else expect(reading).toMatchObject({ status: "found" });
  if (reading.status !== "found") return;
  const { run } = reading;
  expect(hasEnded(run.process), "the run that left the file has ended").toBe(true);
  const whose = summaries.find(({ runId }) => runId === run.runId);
  if (whose !== undefined)
    expect(run).toMatchObject({ status: whose.status, announced: whose.announced, week: whose.week });
  else expect(summaries.length, "runs whose end was overwritten by no other").toBeLessThan(ended.length);
}

/** The summaries say of the alerts what the listener heard; killed runs may have announced their end as well. */
export function expectHeard({ alerts }: Arena, all: Ended[]): void {
  const killed = all.filter(({ summary }) => summary === null).length;
  for (const status of ["firing", "resolved"] as const) {
    const announced = all.filter(({ summary }) => summary?.announced === status).length;
    const heard = alerts.heard.filter((alert) => alert.status === status).length;
    expect(heard, `${status} alerts`).toBeGreaterThanOrEqual(announced);
    expect(heard, `${status} alerts`).toBeLessThanOrEqual(announced + killed);
  }
  expect(all.map(({ summary }) => summary?.announced)).not.toContain("failed");
  expect(new Set(alerts.heard.map(({ fingerprint }) => fingerprint)).size).toBeLessThanOrEqual(1);
}

/** After the last run, which ended alone, the last-run file and the announced alerts agree with its verdict. */
export function expectEndAnnounced({ logDir, alerts }: Arena, { summary }: Ended): void {
  const reading = readLastRun(logDir);
  const last = alerts.heard.at(-1)?.status;
  const isFiring = summary!.status !== "success";
  expect(reading).toMatchObject({
    status: "found",
    run: { runId: summary!.runId, status: summary!.status, week: summary!.week },
  });
  const held = reading.status === "found" ? reading.run.announcement : null;
  expect({ isHeld: held !== null, last: last === "firing" }).toEqual({ isHeld: isFiring, last: isFiring });
}

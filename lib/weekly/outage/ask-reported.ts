import { ownerKey } from "../context/owner.ts";
import { refusalToBegin } from "../context/report-day-gate.ts";
import type { Run } from "../context/run.ts";
import { databaseCode } from "../database/refusals.ts";
import type { AnalysedConnection } from "../database/reports.ts";
import { callVerdict } from "../report/call-verdict.ts";
import { askFor } from "../report/collect.ts";
import type { Turn } from "./admission.ts";

/** How many owners are asked at a time. */
const OTHERS = 2;
const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/** The report whose owner was asked last and got no analysis. */
const lastInVain = new WeakMap<Run, string>();

const inFlight = new WeakMap<Run, Promise<void>>();

/**
 * Asks for connections of owners whose reports are complete, to tell an application that refuses or is away from
 * connections that fail: else a few of those would look like the application whenever all others are done.
 *
 * Shape:     `isEnough` ends the asking.
 * Behaviour: nothing is claimed or changed here; a completed report stays as it is. Without such owners, or without a
 *            database, nothing is learnt. Each run begins with others, and one whose call was bad comes again after all
 *            others: a few whose own connections have failed since must not stand for all. Who comes while others ask
 *            waits for their answer, and asks anew when it is not enough: it may be older than the question.
 */
export async function askReported(run: Run, isEnough: () => boolean): Promise<void> {
  const theirs = inFlight.get(run);
  await theirs;
  if (theirs !== undefined && isEnough()) return;
  const asking =
    inFlight.get(run) ?? askEach(run, listReported, isEnough).finally(() => inFlight.delete(run));
  inFlight.set(run, asking);
  await asking;
}

const askedOfRefusal = new WeakMap<Run, Promise<void>>();

/** The same for a refusal that is about to break the run off: once in a run, since a good answer settles it. */
export async function askReportedOfRefusal(run: Run): Promise<void> {
  const asked = askedOfRefusal.get(run) ?? askReported(run, run.admission.hasGood);
  askedOfRefusal.set(run, asked);
  await asked;
}

/** Asks for one connection once more, only to learn whether the application works. */
export async function askAgain(run: Run, one: Asked): Promise<void> {
  await askEach(
    run,
    async () => [one],
    () => false,
  );
}

type Asked = Pick<AnalysedConnection, "scope" | "connection"> & { reportId?: string };

/** The next ones in the order of the reports' ids, and after the last one the first ones again. */
async function listReported(run: Run): Promise<Asked[]> {
  const { dependencies, options, window } = run;
  const list = (after: string) =>
    dependencies.store.listAnalysedConnections(window, { tenantId: options.tenantId, after, limit: OTHERS });
  const found = await list(lastInVain.get(run) ?? dependencies.runId);
  const first = found.length < OTHERS ? await list(BEFORE_ALL_IDS) : [];
  const others = first.filter(({ reportId }) => found.every((one) => one.reportId !== reportId));
  return [...found, ...others].slice(0, OTHERS);
}

async function askEach(
  run: Run,
  list: (run: Run) => Promise<Asked[]>,
  isEnough: () => boolean,
): Promise<void> {
  const { dependencies, stop } = run;
  try {
    for (const one of await list(run)) {
      if (isEnough() || (await refusalToBegin(run)) !== null) return;
      const isGood = await askForOne(run, one);
      if (!isGood && one.reportId !== undefined) lastInVain.set(run, one.reportId);
    }
  } catch (error) {
    dependencies.log.warn("The application could not be asked whether it works", {
      code: databaseCode(error),
      stopped: stop.reason()?.code,
    });
  }
}

async function askForOne(run: Run, { scope, connection }: Asked): Promise<boolean> {
  const { dependencies, tally, stop, window, admission } = run;
  const turn: Turn = { owner: ownerKey(scope), isProbe: true, calls: 0, failedAt: 0 };
  const onCall = () => {
    tally.social.calls += 1;
    return admission.begin(turn);
  };
  const asking = { application: dependencies.application, onCall, signal: stop.abandon };
  const answer = await askFor(asking, { scope, window, connection });
  const rows =
    answer.code === null ? await dependencies.store.readEvidence(scope, window, [connection.id]) : null;
  const verdict = callVerdict({ ...connection, ...answer }, rows)!;
  const { code, beganAt } = answer;
  admission.record(turn, { verdict, code: code ?? "analysis_missing", beganAt });
  return verdict === "good";
}

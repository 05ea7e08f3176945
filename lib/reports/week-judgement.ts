import { OWNERS_DROPPED, ownersBeforeText, ownersDropped } from "../ledger/owners-dropped.ts";
import {
  CLOSED,
  EXPLAIN,
  nextCommand,
  prospectOfClosed,
  SHOW_WEEK,
  STEP_COMMANDS,
  type WeekStep,
  weekSteps,
  whyNoRun,
} from "../ledger/week-steps.ts";
import { type OpenCounts, openInWeek, socialVerdict } from "../ledger/week-verdict.ts";
import type { Fix } from "../platform/errors.ts";
import { localTime } from "../time/local-time.ts";
import { isFullSuccess, type LastRunFacts, type LastRunFinding } from "./last-run.ts";
import type { LedgerWeek } from "./ledger-week.ts";
import { weekStage } from "./week-stage.ts";

/**
 * What `opsctl status`, `opsctl doctor` and `opsctl reports status` say of a week.
 *
 * Shape: `state`: its run is still to come, works on it, or has not begun though it was due; of what a run has made,
 *        something is `open`, or it is `clean`. `result` is all of it in one line, with its fix; `head` is the state in a
 *        few words, `prospect` what can still come of it. Of the `facts` `open` counts reports and deliveries, `lastRun`
 *        is this host's last run about the week.
 */
export type WeekJudgement = Pick<Verdict, "head" | "prospect"> & {
  state: "awaited" | "running" | "late" | "open" | "clean";
  result: Urgency & { reason: string };
  facts: Pick<LedgerWeek, "week" | "clean" | "retryableUntil"> & {
    open: number;
    owners: number;
    lastRun: LastRunFacts | null;
  };
};

type Urgency =
  | { status: "pass"; code: null; fix: null }
  | { status: "warn" | "fail"; code: string; fix: Fix };

type Verdict = { urgency: Urgency; head: string; prospect: string | null };

const RUN_TODAY: Fix = {
  text: "See with opsctl doctor weekly what it needs, then:",
  command: STEP_COMMANDS.run,
};
const SEE_LOG: Fix = { text: "See the end of /var/log/opsctl/weekly.log for why", command: null };
const DECIDE: Fix = { text: "No run begins before this is decided:", command: EXPLAIN.ledgerWentBack };
const WHY_DROPPED: Fix = {
  text: "Far fewer owners than before. Why that may be:",
  command: EXPLAIN.ownersDropped,
};

/** What is done before a run can help an open week. */
export const FIX_FIRST: Fix = { text: "Fix what it names, then run opsctl weekly:", command: SHOW_WEEK };

/** How a run stands or ended, as it follows "the run". */
export const RUN_STATES: Readonly<Record<LastRunFacts["status"], string>> = {
  running: "still running",
  ended: "was killed",
  success: "succeeded",
  failed: "failed",
  not_ready: "was not ready",
};

/** Judges a week by the ledger and by what this host knows of its runs. */
export function judgeWeek(ledger: LedgerWeek, lastRun: LastRunFinding): WeekJudgement {
  const { week, counts, clean, runDue, hasRun, retryableUntil } = ledger;
  const run = lastRun.status === "found" ? lastRun.run : null;
  const hasHostWorked = lastRun.status === "none" && lastRun.hasHostWorked;
  const stage = weekStage(counts, { isRunDue: runDue, lastRun: run, hasHostWorked, hasRun });
  const made = clean ? "clean" : "open";
  const state = stage === "made" ? made : stage;
  const { urgency, head, prospect } = VERDICTS[state](ledger, run);
  const isUndecided = retryableUntil !== null && run?.code === "LEDGER_WENT_BACK";
  const decided: Urgency = isUndecided && urgency.code !== null ? { ...urgency, fix: DECIDE } : urgency;
  const counted = { clean: `, ${ownersText(ledger)}`, open: `: ${openText(ledger)}` };
  const rest = prospect === null ? "" : `; ${prospect}`;
  const reason = `week of ${week}: ${head}${stage === "made" ? counted[made] : ""}${rest}`;
  const openCounts = Object.values(openInWeek(counts)).flatMap((of) => Object.values(of));
  const open = openCounts.reduce((sum, count) => sum + count, 0);
  const facts = { week, clean, open, owners: counts.owners, retryableUntil, lastRun: run };
  return { result: { ...decided, reason }, state, head, prospect, facts };
}

const VERDICTS: Record<WeekJudgement["state"], (ledger: LedgerWeek, run: LastRunFacts | null) => Verdict> = {
  awaited: () => well("the run is due at 08:00 (São Paulo)"),
  running: (_ledger, run) => well(runningText(run)),
  late({ retryableUntil: until, hasRun }, run) {
    const isFirst = !hasRun && run === null;
    if (isFirst && until === null) return well("no run yet; the first is on Monday at 08:00 (São Paulo)");
    const fix = until === null ? SEE_LOG : RUN_TODAY;
    const prospect = until === null ? CLOSED : `it can be made until ${localTime(until)} (São Paulo)`;
    const urgency = { status: isFirst ? "warn" : "fail", code: "WEEK_NOT_RUN", fix } as const;
    return { urgency, head: "no run has begun", prospect };
  },
  open({ counts, retryableUntil: until }) {
    const { reports, ...deliveries } = openInWeek(counts);
    const states = [reports, ...Object.values(deliveries)].flatMap((of) => Object.keys(of));
    // On a closed week an owner without a report cannot be helped.
    const isOnlyMissing = states.length === 1 && "missing" in reports && socialVerdict(counts) === null;
    const steps = weekSteps(counts, { isClosed: until === null });
    const urgency = {
      status: until === null && isOnlyMissing ? "warn" : "fail",
      code: "WEEK_OPEN",
      fix: fixOf(steps),
    } as const;
    return { urgency, head: "OPEN", prospect: repeatText(steps, until) };
  },
  clean({ counts, retryableUntil: until }, run) {
    if (run !== null && !isFullSuccess(run) && until !== null) {
      const cause = run.beside === null ? "" : `, once what failed beside it is fixed (${run.beside})`;
      const prospect = `another run today renews the last success${cause}`;
      return {
        urgency: { status: "warn", code: "HEARTBEAT_STALE", fix: RUN_TODAY },
        head: "clean",
        prospect,
      };
    }
    if (ownersDropped(counts) === null) return well("clean");
    const urgency = { status: "warn", code: OWNERS_DROPPED, fix: WHY_DROPPED } as const;
    return { urgency, head: "clean", prospect: null };
  },
};

function well(head: string): Verdict {
  return { urgency: { status: "pass", code: null, fix: null }, head, prospect: null };
}

function runningText(run: LastRunFacts | null): string {
  if (run?.status !== "running") return "a run works on it";
  if (run.waiting !== null) return "its run waits to begin";
  return run.begunAt === null
    ? "its run goes on"
    : `its run goes on since ${localTime(run.begunAt)} (São Paulo)`;
}

function ownersText({ counts }: LedgerWeek): string {
  return `${counts.owners} ${counts.owners === 1 ? "owner" : "owners"}${ownersBeforeText(counts)}`;
}

function openText({ counts }: LedgerWeek): string {
  const { reports, whatsapp, email } = openInWeek(counts);
  const social = socialVerdict(counts);
  const named = (name: string, of: OpenCounts) => {
    const texts = Object.entries(of).map(([state, count]) => `${count} ${state}`);
    return texts.length === 0 ? [] : [`${name}: ${texts.join(", ")}`];
  };
  const parts = [
    ...[...named("reports", reports), ...named("WhatsApp", whatsapp), ...named("e-mail", email)],
    ...(social === null ? [] : [`networks: ${social}`]),
  ];
  return parts.join("; ");
}

function repeatText(steps: readonly WeekStep[], until: string | null): string {
  if (until === null) return prospectOfClosed(steps);
  return whyNoRun(steps) ?? `it can be repeated until ${localTime(until)} (São Paulo)`;
}

function fixOf(steps: readonly WeekStep[]): Fix {
  const next = nextCommand(steps);
  if (next !== null) return { text: null, command: next };
  return steps.includes("run") ? FIX_FIRST : { text: null, command: SHOW_WEEK };
}

import { join } from "node:path";
import { LAST_RUN_FILE } from "../last-run/file-name.ts";
import type { WeekBounds } from "../ledger/week-state.ts";
import type { Log } from "../platform/log/log.ts";
import type { ReadinessProblem } from "../schema/readiness.ts";
import type { WeeklySummary } from "./context/summary.ts";

/** The summary's part of a run whose database lacks something; each problem is also logged. */
export function notReady(problems: ReadinessProblem[], log: Log): Partial<WeeklySummary> {
  for (const { code, message, hint } of problems) log.error(message, { code, hint });
  const failures = problems.map(({ code }) => ({ step: "readiness" as const, code }));
  return { failures, error: problems[0]! };
}

/** The summary's part of a run whose host and database know the zone differently: one of them is wrong about Monday. */
export function zoneDataDiffers(ours: WeekBounds, theirs: WeekBounds): Partial<WeeklySummary> {
  const code = "ZONE_DATA_DIFFERS";
  const week = ({ start, end }: WeekBounds) => `${start} to ${end}`;
  return {
    failures: [{ step: "readiness", code }],
    error: {
      code,
      message: `Refused to start: opsctl and the database know America/Sao_Paulo differently; the last closed week is ${week(ours)} here, ${week(theirs)} there`,
      hint: "Update the older one: opsctl, or the time zone data of the database server (tzdata)",
    },
  };
}

/** The summary's part of a run whose ledger has forgotten messages that this host knows to be sent. */
export function ledgerWentBack(
  { before, known }: { before: number; known: number },
  logDir: string,
): Partial<WeeklySummary> {
  const code = "LEDGER_WENT_BACK";
  return {
    failures: [{ step: "readiness", code }],
    error: {
      code,
      message: `Refused to start: the last run of this host counted ${before} WhatsApp messages of this week as sent, and the database knows of ${known}; it was restored from a backup, or it is another one`,
      hint: `Correct DATABASE_URL, or bring the newer rows back. If neither can be, opsctl weekly --skip-whatsapp sends no message again; to send all of them again, remove ${join(logDir, LAST_RUN_FILE)}`,
    },
  };
}

/** The summary's part of a run on another day than Monday. */
export function outsideMonday(now: string): Partial<WeeklySummary> {
  return {
    status: "refused",
    exitCode: 4,
    error: {
      code: "WEEKLY_OUTSIDE_MONDAY",
      message: `Refused to start a writing run: it is not Monday in America/Sao_Paulo (now ${now})`,
      hint: "Wait for Monday, or check readiness with opsctl weekly --dry-run",
    },
  };
}

/** The summary's part of a run for one tenant that gets no report. */
export function notEligible(tenantId: string): Partial<WeeklySummary> {
  const code = "TENANT_NOT_ELIGIBLE";
  return {
    failures: [{ step: "scope", code, tenantId }],
    error: {
      code,
      message: `Cannot report on tenant ${tenantId}: it has no eligible owner`,
      hint: "A tenant needs an owner, must not be archived, and its wallet must be active or in grace",
    },
  };
}

import type { WeekState } from "./week-state.ts";
import { type OpenCounts, openInWeek } from "./week-verdict.ts";

/**
 * What moves something on that is open in a week: another run, the evidence of the providers, the missing timeline
 * entries, or the end of the process that works on it.
 */
export type WeekStep = "run" | "look-up" | "repair" | "wait";

/** A state in which a report or a delivery is open. */
export type OpenState = keyof OpenCounts;

/** The command that shows the week. */
export const SHOW_WEEK = "opsctl reports status";

/** The command of each step; while a process works on something, the one that shows the week. */
export const STEP_COMMANDS: Readonly<Record<WeekStep, string>> = {
  run: "opsctl weekly",
  "look-up": "opsctl deliveries look-up --all",
  repair: "opsctl deliveries repair",
  wait: SHOW_WEEK,
};

/** What says what is to be decided where a run has nobody to report to, or is refused by a ledger that went back. */
export const EXPLAIN = {
  ownersDropped: "opsctl explain OWNERS_DROPPED",
  ledgerWentBack: "opsctl explain LEDGER_WENT_BACK",
} as const;

/** What comes after a look-up: it settles only what it finds. */
export const BY_HAND =
  "what a look-up does not find is decided by hand: opsctl deliveries list --state unknown, then reconcile each";

/** What is said of a week that is closed. */
export const CLOSED = "nothing more is sent for it";

/** Why no run of the same Monday would help a week, by the step that does; `none` where nothing does. */
const WITHOUT_RUN: Readonly<Record<Exclude<WeekStep, "run"> | "none", string>> = {
  "look-up": `what is in doubt is never sent again by itself; ${BY_HAND}`,
  repair: "what is sent lacks only its timeline entry",
  wait: "what a killed run held is free after 20 minutes",
  none: "no run reads these networks again",
};

/** In the order in which they are taken: a run makes what the others then settle. */
const ORDER: readonly WeekStep[] = ["run", "look-up", "repair", "wait"];

/** What a report or a delivery needs that is open in this state; null where nothing helps: its week is closed. */
export function stepOf(state: OpenState, { isClosed }: { isClosed: boolean }): WeekStep | null {
  switch (state) {
    case "failed":
    case "missing":
      return isClosed ? null : "run";
    case "unknown":
      return "look-up";
    case "partial":
      return "repair";
    case "running":
      return "wait";
  }
}

/**
 * The steps that help a week, each once; none where nothing is open, or where nothing helps.
 *
 * Behaviour: a week in which networks could not be read has no step for them: its reports are complete, and no run
 *            makes them again.
 */
export function weekSteps(
  week: Pick<WeekState, "reports" | "whatsapp" | "email">,
  { isClosed }: { isClosed: boolean },
): WeekStep[] {
  const states = Object.values(openInWeek(week)).flatMap((counts) => Object.keys(counts) as OpenState[]);
  const helpful = new Set(states.map((state) => stepOf(state, { isClosed })));
  return ORDER.filter((step) => helpful.has(step));
}

/**
 * The command that comes next: that of the one step that is left, or the one that shows the week where there are
 * several.
 *
 * Shape: null where a run comes first, for which a cause has to be fixed, and where nothing helps.
 */
export function nextCommand([step, ...more]: readonly WeekStep[]): string | null {
  if (step === undefined || step === "run") return null;
  return more.length === 0 ? STEP_COMMANDS[step] : SHOW_WEEK;
}

/** Why no run of the same Monday would help; null where one would. */
export function whyNoRun([step]: readonly WeekStep[]): string | null {
  return step === "run" ? null : WITHOUT_RUN[step ?? "none"];
}

/** What can still come of a week that is closed, given the steps that help it. */
export function prospectOfClosed(steps: readonly WeekStep[]): string {
  if (steps.includes("look-up")) return `${CLOSED}; ${BY_HAND}`;
  return steps.length === 0 ? `${CLOSED}, and nothing is left to do` : CLOSED;
}

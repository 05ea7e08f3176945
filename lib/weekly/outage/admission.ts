/**
 * When a run may claim the next owner.
 *
 *     flowing ── a refusal (401, 409) before any good call ──> confirming: two other owners are asked, one at a time
 *        │  ^                                                     │ all say the same: the run breaks off
 *        │  └──────────────── a good or another answer ───────────┘
 *        ├── 20 bad calls in a row, of 10 owners ──> waiting (tripped): one owner is asked every 30 seconds
 *        │                                              │ a good call: flowing; the patience ends: the run breaks off
 *        └── a pass ends, all that failed lately may heal ──> waiting (short): the same, two minutes at most
 *                                                       │ a good call, or the time is over: flowing, the next pass
 *
 * Nothing is claimed while a run waits: owners wait here, before their claim, and those in flight are put back.
 */
import type { Stop, StopReason } from "../context/run-stop.ts";
import {
  afterCall,
  type Breaker,
  type CallVerdict,
  type JudgedCall,
  mayHealSoon,
  NEW_BREAKER,
  startedAnew,
} from "./breaker.ts";
import { afterAnswer, type Confirmation, confirmationStep } from "./confirmation.ts";
import { afterProbe, beginWait, isLastProbe, type Wait, waitStep } from "./wait.ts";

/**
 * The right to claim one owner and to call the application for it; a probe has it while all others wait.
 *
 * Shape: `failedAt` is the moment at which a call of this turn failed last in a way that may heal, else its beginning.
 * Units: moments are counted: one for each call that begins.
 */
export type Turn = { readonly owner: string; readonly isProbe: boolean; calls: number; failedAt: number };

/** A finished call; `beganAt` is the moment that `begin` returned. */
export type FinishedCall = { verdict: CallVerdict; code: string | null; beganAt: number };

/** What the end of a wait means for the run. */
export type WaitEnd = "answered" | "second_pass";

/** What the admission needs: how long to wait, by which clock, and whom to tell. */
export type AdmissionOptions = {
  stop: Stop;
  patienceMs: number;
  /** How much of Monday is left. */
  mondayLeftMs(): number;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Why the run breaks off when all bad calls in a row have one of these codes, or none in common (null). */
  reasonOf(code: string | null): StopReason;
  onWait(wait: Wait): void;
  onWaitEnd(wait: Wait, end: WaitEnd): void;
};

/** When owners may be claimed, judged by how the calls before them ended. */
export type Admission = ReturnType<typeof createAdmission>;

/** How long a run waits when too few calls failed to trip the breaker. */
const SHORT_WAIT_MS = 120_000;

/** What is known at one moment; owners that wait are in the order in which they came. */
type State = {
  options: AdmissionOptions;
  waiters: { owner: string; admit: (turn: Turn | null) => void }[];
  breaker: Breaker;
  confirmation: Confirmation | null;
  wait: Wait | null;
  waitBeforeProbe: Wait | null;
  inFlight: number;
  isAsleep: boolean;
  /** The moment of what happened last. */
  moment: number;
  /** When the latest of the calls that were good began. */
  goodBeganAt: number;
  isWaitingOver: boolean;
  /** `goodBeganAt` when the last pass began. */
  goodBeforePass: number;
  /** How much longer the run waits between passes that decide about no owner. */
  leftBetweenPassesMs: number;
};

/** An admission that flows; every turn that `enter` gives has to be given back with `leave`. */
export function createAdmission(options: AdmissionOptions) {
  const state: State = {
    options,
    waiters: [],
    breaker: NEW_BREAKER,
    confirmation: null,
    wait: null,
    waitBeforeProbe: null,
    inFlight: 0,
    isAsleep: false,
    moment: 0,
    goodBeganAt: 0,
    isWaitingOver: false,
    goodBeforePass: 0,
    leftBetweenPassesMs: options.patienceMs,
  };
  return {
    /** Waits until this owner may be claimed; null when the run stops before that. */
    enter: (owner: string): Promise<Turn | null> => enter(state, owner),
    /** The owner's calls have ended, whatever came of them. */
    leave: (turn: Turn): void => leave(state, turn),
    /** A call begins; returns its moment. */
    begin: (turn: Turn): number => begin(state, turn),
    /** Takes note of a finished call. */
    record: (turn: Turn, call: FinishedCall): void => record(state, turn, call),
    /**
     * To be called before each pass over the owners that were put back. Waits between passes that decide about no owner
     * share the patience, however often a call is good meanwhile: else an application that lets through too few calls
     * for one owner would keep the run until midnight.
     */
    endPass: (pass: { hasDecided: boolean }): void => endPass(state, pass),
    /**
     * Whether a call was good that began after the last failure of this turn: the application works again. One that
     * began before proves nothing, although it may be judged later.
     */
    hasGoodSince: (turn: Turn): boolean => state.goodBeganAt > turn.failedAt,
    /** The run has waited for the application, in vain or not at all: the next pass makes the reports. */
    isWaitingOver: (): boolean => state.isWaitingOver,
    /** True when an owner in flight has to be put back before its next call. */
    mustPutBack: (turn: Turn): boolean => state.wait !== null && !turn.isProbe,
    /** Whether this owner's answer is one of those to be confirmed. */
    isAsked: (owner: string): boolean => state.confirmation?.owners.includes(owner) ?? false,
    /** As many owners got the same refusal as a run asks: it is about to break off. */
    isRefusedByAll: (): boolean => isRefusedByAll(state),
    /** This owner is the last one who is asked before the run breaks off. */
    isLastProbe: (turn: Turn): boolean => turn.isProbe && state.wait !== null && isLastProbe(state.wait),
    isFlowing: (): boolean => isFlowing(state),
    hasGood: (): boolean => state.breaker.hasGood,
  };
}

function enter(state: State, owner: string): Promise<Turn | null> {
  return new Promise((admit) => {
    state.waiters.push({ owner, admit });
    advance(state);
  });
}

function leave(state: State, turn: Turn): void {
  state.inFlight -= 1;
  // An owner without calls has not asked the application: the next one may at once.
  if (turn.isProbe && turn.calls === 0 && state.wait !== null)
    state.wait = state.waitBeforeProbe ?? state.wait;
  state.waitBeforeProbe = null;
  advance(state);
}

function begin(state: State, turn: Turn): number {
  turn.calls += 1;
  state.moment += 1;
  return state.moment;
}

function record(state: State, turn: Turn, { verdict, code, beganAt }: FinishedCall): void {
  const call: JudgedCall = { owner: turn.owner, verdict, code };
  const isGood = verdict === "good";
  if (isGood) state.goodBeganAt = Math.max(state.goodBeganAt, beganAt);
  else if (verdict === "may_heal") turn.failedAt = state.moment;
  if (isGood) state.confirmation = null;
  else if (!state.breaker.hasGood) state.confirmation = afterAnswer(state.confirmation, call);
  // The bad calls of a short wait are not made to find out whether the breaker has to trip.
  if (isGood || state.wait?.kind !== "short") {
    const isStale = state.wait !== null && !turn.isProbe;
    state.breaker = afterCall(state.breaker, call, { isStale });
  }
  const { isTripped } = state.breaker;
  if (isTripped && state.wait === null) startWait(state, "tripped", state.options.patienceMs);
  else if (isGood && !isTripped) endWait(state, "answered");
}

function endPass(state: State, { hasDecided }: { hasDecided: boolean }): void {
  const { breaker, options, wait } = state;
  if (hasDecided) state.leftBetweenPassesMs = options.patienceMs;
  const isFruitless = !hasDecided && state.goodBeganAt === state.goodBeforePass;
  state.goodBeforePass = state.goodBeganAt;
  if (wait !== null) return;
  if (state.isWaitingOver) {
    // Refusals and failures in turns leave every owner undecided: another pass would only ask them all again.
    if (isFruitless) stopByCodes(state);
    return;
  }
  const leftMs = state.leftBetweenPassesMs;
  if (leftMs > 0 && mayHealSoon(breaker)) {
    state.breaker = startedAnew(breaker);
    startWait(state, "short", Math.min(SHORT_WAIT_MS, leftMs));
  } else state.isWaitingOver = leftMs <= 0 || breaker.badInARow > 0;
}

/** Admits those who may be admitted now. */
function advance(state: State): void {
  const { stop } = state.options;
  if (state.confirmation !== null && state.inFlight === 0) confirm(state, state.confirmation);
  if (stop.reason() !== null) for (const { admit } of state.waiters.splice(0)) admit(null);
  else if (isFlowing(state))
    for (const waiter of state.waiters.splice(0)) admitOne(state, waiter, { isProbe: false });
  else if (state.inFlight === 0 && state.waiters.length > 0) admitProbe(state);
}

function isFlowing({ wait, confirmation }: State): boolean {
  return wait === null && confirmation === null;
}

function isRefusedByAll({ confirmation }: State): boolean {
  return confirmation !== null && confirmationStep(confirmation) === "confirmed";
}

function admitOne(
  state: State,
  { owner, admit }: State["waiters"][number],
  { isProbe }: { isProbe: boolean },
) {
  state.inFlight += 1;
  admit({ owner, isProbe, calls: 0, failedAt: state.moment });
}

/** The next owner to ask for: at once when a refusal is to be confirmed, else when the wait says so. */
function admitProbe(state: State): void {
  const { options, wait } = state;
  const nowMs = options.monotonicMs();
  const step = state.confirmation !== null || wait === null ? null : waitStep(wait, nowMs);
  if (step?.status === "sleep") sleepFor(state, step.ms);
  else if (step?.status === "over") giveUp(state);
  else {
    if (step !== null && wait !== null) {
      state.waitBeforeProbe = wait;
      state.wait = afterProbe(wait, nowMs);
    }
    admitOne(state, state.waiters.shift()!, { isProbe: true });
  }
}

function sleepFor(state: State, ms: number): void {
  if (state.isAsleep) return;
  state.isAsleep = true;
  const wake = () => {
    state.isAsleep = false;
    advance(state);
  };
  state.options.sleep(ms, state.options.stop.signal).then(wake, wake);
}

/** A short wait leaves the decision to the second pass, the other one breaks the run off. */
function giveUp(state: State): void {
  if (state.wait?.kind === "short") {
    state.isWaitingOver = true;
    endWait(state, "second_pass");
  } else stopByCodes(state);
  advance(state);
}

/** Breaks the run off for what the bad calls in a row have in common. */
function stopByCodes({ breaker: { codes }, options }: State): void {
  options.stop.because(options.reasonOf(codes.length === 1 ? codes[0]! : null));
}

function startWait(state: State, kind: Wait["kind"], patienceMs: number): void {
  const { monotonicMs, mondayLeftMs, onWait } = state.options;
  // A deadline at midnight leaves the last word to the claim, which knows the day.
  const wait = beginWait(kind, monotonicMs(), Math.min(patienceMs, Math.max(1, mondayLeftMs())));
  state.wait = wait;
  if (wait.patienceMs > 0) onWait(wait);
}

function endWait(state: State, end: WaitEnd): void {
  const { wait, options } = state;
  if (wait?.kind === "short") state.leftBetweenPassesMs -= options.monotonicMs() - wait.sinceMs;
  if (wait !== null) options.onWaitEnd(wait, end);
  state.wait = null;
}

/** Judges a refusal once no call is in flight; else puts an owner in front who was not asked yet. */
function confirm(state: State, confirmation: Confirmation): void {
  const { options, waiters } = state;
  const step = confirmationStep(confirmation);
  const other = waiters.findIndex(({ owner }) => !confirmation.owners.includes(owner));
  // Owners who were asked come again only when no other one is left.
  const noneIsLeft = waiters.length > 0 && other < 0;
  if (step === "confirmed" || (step === "ask_another" && noneIsLeft))
    options.stop.because(options.reasonOf(confirmation.code));
  else if (step === "refuted") state.confirmation = null;
  else if (other > 0) waiters.unshift(...waiters.splice(other, 1));
}

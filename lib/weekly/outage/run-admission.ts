import { mondayLeftOf } from "../context/monday-left.ts";
import type { Run } from "../context/run.ts";
import { APP_NOT_ANSWERING, APPLICATION_REFUSES } from "../context/run-stop.ts";
import { type Admission, createAdmission } from "./admission.ts";
import { announceWait, announceWaitEnd } from "./announce-wait.ts";
import { clockAt } from "./clock-at.ts";

/** The admission of one run, which tells its waits in the log and on the progress line. */
export function runAdmission(
  run: Pick<Run, "dependencies" | "options" | "stop" | "startedAt" | "startedMs">,
): Admission {
  const { dependencies, options, stop } = run;
  const { monotonicMs, sleep } = dependencies;
  return createAdmission({
    stop,
    patienceMs: options.patienceMinutes * 60_000,
    mondayLeftMs: mondayLeftOf(run),
    monotonicMs,
    sleep,
    reasonOf: (code) => APPLICATION_REFUSES[code ?? ""] ?? APP_NOT_ANSWERING,
    onWait: (wait) => announceWait(dependencies, wait, clockAt(run, wait.deadlineMs)),
    onWaitEnd: (wait, end) => announceWaitEnd(dependencies, wait, end, monotonicMs()),
  });
}

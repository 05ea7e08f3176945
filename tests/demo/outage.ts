/** The application goes away and comes back, as the demo needs it. */
import type { Application } from "../standins/application.ts";

const AWAY = { status: 503, json: { error: "unavailable" } };

/** From now on every analysis call is refused with 503. */
export function takeAway({ routes }: Application): void {
  routes.analysis.script = () => AWAY;
}

/** Analysis calls are answered again. */
export function bringBack({ routes }: Application): void {
  routes.analysis.script = null;
}

/** A few more calls are answered, then none for so many milliseconds. */
export function takeAwayFor({ routes }: Application, { afterCalls, ms }: { afterCalls: number; ms: number }) {
  let calls = 0;
  let backMs: number | null = null;
  routes.analysis.script = () => {
    calls += 1;
    if (calls <= afterCalls) return undefined;
    backMs ??= performance.now() + ms;
    return performance.now() < backMs ? AWAY : undefined;
  };
}

/** How many analysis calls were refused so far. */
export function refusedCalls({ routes }: Application): number {
  return routes.analysis.calls.filter(({ status }) => status === AWAY.status).length;
}

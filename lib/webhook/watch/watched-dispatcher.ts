import type { Dispatcher } from "../delivery/dispatcher.ts";
import { type DispatcherParts, makeDispatcher, type Pace } from "../delivery/make-dispatcher.ts";
import { Watch, type WatchPeers } from "./watch.ts";

/** What the dispatcher and its watch touch. */
export type WatchedParts = DispatcherParts & {
  /** Asked for each time, so that they may be exchanged while the service runs. */
  watchPeers: () => WatchPeers;
};

/** Makes the dispatcher, and the watch that sees how its messages end and may hold them; neither is started. */
export function watchedDispatcher(parts: WatchedParts, pace: Pace): { dispatcher: Dispatcher; watch: Watch } {
  const { state, watchPeers, log, nowMs, monotonicMs, sleep } = parts;
  const watch = new Watch({
    state,
    peers: watchPeers,
    whatsapp: {
      hold: (reason) => dispatcher.hold("message", reason),
      open: () => dispatcher.open("message"),
      stoppedBy: () => dispatcher.stops.message,
    },
    isLeading: () => dispatcher.isLeading,
    isTelling: () => dispatcher.isTelling,
    log,
    nowMs,
    monotonicMs,
    sleep,
  });
  const attempts = { ...parts.attempts, message: watch.watched(parts.attempts.message) };
  const dispatcher = makeDispatcher({ ...parts, attempts }, pace);
  return { dispatcher, watch };
}

/** Why a channel stopped: a public code, and what is behind a code that has several causes. */
export type ChannelStopReason = { code: string; cause?: string | undefined };

/** Whether one channel still sends in this run; all of its deliveries share it. */
export type ChannelStop = {
  /** Why the channel stopped, null while it goes on. */
  reason(): ChannelStopReason | null;
  /** Aborted when the channel or the run stops: deliveries that wait for their turn wake up. */
  signal: AbortSignal;
  /** Stops the channel; the first reason stays. */
  because(reason: ChannelStopReason): void;
  /** Aborts `signal` also when the run stops; `reason` stays null then, the run has its own. */
  follow(run: AbortSignal): void;
};

/** A channel that goes on until `because` stops it. */
export function createChannelStop(): ChannelStop {
  const stopping = new AbortController();
  let reason: ChannelStopReason | null = null;
  return {
    reason: () => reason,
    signal: stopping.signal,
    because(given) {
      reason ??= given;
      stopping.abort();
    },
    follow(run) {
      run.addEventListener("abort", () => stopping.abort(), { once: true });
    },
  };
}

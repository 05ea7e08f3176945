import type { AttemptResult } from "../delivery/attempt.ts";
import { OutageLog } from "../outage-log.ts";
import { acknowledgements } from "./acknowledgements.ts";
import type { WatchDependencies } from "./dependencies.ts";
import { emailFallback } from "./email-fallback.ts";
import { gatewayWatch } from "./gateway.ts";
import { heartbeat } from "./heartbeat.ts";

/** What the watch knows of the gateway's connection and of messages without acknowledgement; null while not known. */
export type WatchView = Watch["view"];

/** The watch over the alarm. */
export type Watch = ReturnType<typeof makeWatch>;

const SECOND_MS = 1_000;
const ESCALATION_LOOK_MS = 5_000;
const MINUTE_MS = 60_000;

/**
 * Watches the alarm: the gateway's connection, messages without acknowledgement, alerts that WhatsApp does not take, and
 * whether the service works.
 *
 * Shape:     `tried` is to be called with the result of each message: after a failure it asks for the gateway's state.
 *            `probe` pings at once, as after a reload.
 * Behaviour: runs from `start` to `stop`, which ends the calls that are under way; what fails is logged and tried again.
 */
export function makeWatch(dependencies: WatchDependencies) {
  const stopped = new AbortController();
  const { signal } = stopped;
  let running: Promise<unknown> | null = null;
  let lastFailure: string | null = null;
  const gateway = gatewayWatch(dependencies);
  const messages = acknowledgements(dependencies);
  const email = emailFallback(dependencies, () => lastFailure);
  const ping = heartbeat(dependencies);
  const outage = new OutageLog({ ...dependencies, level: "warn", problem: "The watch over the alarm fails" });
  const safely = async (work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      if (!signal.aborted) outage.failed({ cause: error instanceof Error ? error.name : typeof error });
    });
  };
  const every = async (ms: number, work: () => Promise<void>) => {
    while (!signal.aborted) {
      await safely(work);
      await dependencies.sleep(ms, signal);
    }
  };

  return {
    get view() {
      return { ...gateway.view, ...messages.counts };
    },
    tried(result: AttemptResult) {
      lastFailure = result.status === "delivered" ? null : result.code;
      if (lastFailure !== null) void safely(() => gateway.look(signal));
    },
    start() {
      running ??= Promise.all([
        every(SECOND_MS, () => gateway.lookInTime(signal)),
        every(MINUTE_MS, () => messages.look(signal)),
        every(ESCALATION_LOOK_MS, () => email(signal)),
        every(MINUTE_MS, () => ping(signal)),
      ]);
    },
    probe: () => safely(() => ping(signal)),
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

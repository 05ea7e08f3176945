import type { WatchClients, WatchDependencies } from "./dependencies.ts";

const NOT_OPEN = "sem_instancia_gateway";

const LOOK_MS = 60_000;
/** While messages are paused because of it; one that says open and sends nothing must not be tried in a loop either. */
const LOOK_WHILE_PAUSED_MS = 5_000;

/**
 * Watches whether the gateway's instance is connected to WhatsApp.
 *
 * Shape:     `gatewayOpen` is null while that is not known; `gatewayForMs` is for how long it has been so.
 * Behaviour: pauses the messages when the gateway says that the instance is not open, and resumes them when it says that
 *            it is. An unknown state pauses nothing: a failing gateway is found out by the sends.
 * Source:    design of the alarm, The alarm is watched.
 */
export function gatewayWatch({ sources, clients, dispatcher, log, monotonicMs }: WatchDependencies) {
  let wasOpen: boolean | null = null;
  let changedAtMs = monotonicMs();
  let [askedAtMs, resumedAtMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  /** Asks now. */
  const look = async (signal: AbortSignal): Promise<void> => {
    askedAtMs = monotonicMs();
    const { isOpen, cause } = await connectionOf(clients(), signal);
    if (signal.aborted) return;
    if (isOpen !== wasOpen) {
      if (isOpen === null) log.warn("The state of the gateway's instance is not known", { code: cause });
      if (isOpen && wasOpen === false) log.info("The gateway's instance is connected again");
      [wasOpen, changedAtMs] = [isOpen, monotonicMs()];
    }
    // The messages of another process are not ours to pause.
    if (!sources().some((source) => source.isOurs())) return;
    if (isOpen === false) dispatcher.pause("message", { code: NOT_OPEN, cause });
    // Another refusal, such as one of our key, is not over because the instance is connected.
    if (!isOpen || dispatcher.pauses.message !== NOT_OPEN) return;
    if (monotonicMs() - resumedAtMs < LOOK_WHILE_PAUSED_MS) return;
    resumedAtMs = monotonicMs();
    await dispatcher.resume("message");
  };

  return {
    get view() {
      return { gatewayOpen: wasOpen, gatewayForMs: monotonicMs() - changedAtMs };
    },
    look,
    /** Asks when it is time to. */
    async lookInTime(signal: AbortSignal): Promise<void> {
      const everyMs = dispatcher.pauses.message === NOT_OPEN ? LOOK_WHILE_PAUSED_MS : LOOK_MS;
      if (monotonicMs() - askedAtMs >= everyMs) await look(signal);
    },
  };
}

/** `isOpen` is null when no answer can be read; a refusal of our key says nothing of the instance: the sends pause. */
async function connectionOf(clients: WatchClients, signal: AbortSignal) {
  const instance = await clients.findInstance(signal);
  if (instance.status !== "found") {
    const isMissing = instance.code === NOT_OPEN;
    return isMissing ? { isOpen: false, cause: "instance_missing" } : { isOpen: null, cause: instance.code };
  }
  const check = await clients.gateway.checkInstance(instance.name, signal);
  if (check.status === "open") return { isOpen: true, cause: "" };
  const { code, cause = code, isProved, stopsChannel } = check;
  if (cause === "instance_missing") instance.forget?.();
  return { isOpen: code === NOT_OPEN && isProved && !stopsChannel ? false : null, cause };
}

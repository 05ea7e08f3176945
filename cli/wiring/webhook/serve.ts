import process from "node:process";
import { activatedSockets } from "../../../lib/platform/server/socket-activation.ts";
import { notifySystemd } from "../../../lib/platform/systemd.ts";
import { pause } from "../../../lib/platform/timeout.ts";
import { loadWebhookConfig, type WebhookConfig } from "../../../lib/webhook/config.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import { needRestart, type Reading, type Reloader } from "../../../lib/webhook/reload.ts";
import type { ServeDependencies } from "../../../lib/webhook/serve.ts";
import type { OutboxLimits } from "../../../lib/webhook/store/model.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import { RESERVE } from "../../../lib/webhook/store/sqlite/reserve.ts";
import { openMemoryStore } from "../../../lib/webhook/store/sqlite/store.ts";
import type { CommandContext } from "../../framework/command.ts";
import { warnOfHidden, warnOfUnknown } from "../../framework/command-settings.ts";
import { VERSION } from "../../framework/version.ts";
import { callLog } from "../call-log.ts";
import { type CallLimits, clientsOf } from "./clients.ts";
import { openState, type StoreConditions } from "./state.ts";

/** The clocks and limits of a service that are the same on every host; tests have others. */
export type ServeConditions = Pick<ServeDependencies, "nowMs" | "monotonicMs" | "random" | "sleep"> &
  CallLimits &
  StoreConditions;

/** Those of `opsctl webhook serve`. */
export const SERVE_CONDITIONS: ServeConditions = {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  random: Math.random,
  sleep: pause,
  sendLimitMs: 30_000,
  lookUpLimitMs: 5_000,
  reserve: RESERVE,
};

/**
 * Opens what the webhook service uses: state, clients, the sockets that systemd hands over; `close` closes the state.
 *
 * Behaviour: a reload replaces the clients; what has begun ends with the old ones. What changes at a restart only is
 *            named in the log.
 * Errors:    those of `openState`, before anything listens.
 */
export async function openServeDependencies(
  config: WebhookConfig,
  limits: OutboxLimits,
  context: Pick<CommandContext, "log" | "env" | "interrupted" | "readSettings">,
  reloader: Reloader<Reading>,
  conditions: ServeConditions = SERVE_CONDITIONS,
): Promise<{ dependencies: ServeDependencies; close(): Promise<void> }> {
  const { log, env } = context;
  const { comments } = config.tracker;
  const options = { limits, comments, service: conditions };
  const durable = await openState(config.state, log, "opsctl webhook", options);
  const parts = { ...conditions, onCall: callLog(log) };
  let clients = clientsOf(config, parts);
  let stopPings = () => {};

  const readAgain = async (): Promise<Reading> => {
    const settings = context.readSettings();
    await warnOfUnknown(settings, log);
    warnOfHidden(settings, log);
    return { config: await loadWebhookConfig(settings.env), env: settings.env };
  };
  const replace = (reading: Reading) => {
    const settings = needRestart({ config, env }, reading);
    if (settings.length > 0)
      log.warn("These settings change at a restart only: the old ones stay", { settings });
    clients = clientsOf(reading.config, parts);
  };

  const dependencies: ServeDependencies = {
    ...{ ...conditions, durable, log },
    sockets: activatedSockets(process.env, process.pid),
    openMemory: (most) => outboxOn(openMemoryStore(conditions.nowMs), { limits: most, comments, log }),
    authenticate: (headers) => clients.authenticate(headers),
    attempts: {
      message: (row, signal) => clients.attempts.message(row, signal),
      issue: (row, signal) => clients.attempts.issue(row, signal),
      comment: (row, signal) => clients.attempts.comment(row, signal),
    },
    lookUp: (sent, signal) => clients.lookUp(sent, signal),
    clients: () => clients.watch,
    metrics: createWebhookMetrics({ version: VERSION }),
    interrupt: context.interrupted(),
    reloads: {
      start: (afterwards) => reloader.start({ load: readAgain, apply: replace, afterwards }),
      stop: () => reloader.stop(),
    },
    onReady({ port, adminPort }) {
      log.info("Listening for alerts", { port, ...(adminPort === null ? {} : { adminPort }) });
      stopPings = notifySystemd(process.env, {
        pid: process.pid,
        onFailure: (code) => log.warn("systemd could not be notified", { code }),
      });
    },
  };
  return { dependencies, close: () => durable.close().finally(() => stopPings()) };
}

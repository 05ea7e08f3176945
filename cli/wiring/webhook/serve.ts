import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { activatedSockets } from "../../../lib/platform/server/socket-activation.ts";
import { notifySystemd } from "../../../lib/platform/systemd.ts";
import type { WebhookConfig } from "../../../lib/webhook/config.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import type { Reading } from "../../../lib/webhook/need-restart.ts";
import type { Reloader } from "../../../lib/webhook/reload.ts";
import type { ServeDependencies } from "../../../lib/webhook/serve.ts";
import type { OutboxLimits } from "../../../lib/webhook/state/contract.ts";
import { RESERVE } from "../../../lib/webhook/state/sqlite/reserve/reserve-size.ts";
import type { CommandContext } from "../../framework/command.ts";
import { VERSION } from "../../framework/version.ts";
import { callLog } from "../call-log.ts";
import { type PeerConditions, ReplaceablePeers } from "./peers.ts";
import { reloadsOf } from "./reload.ts";
import { openState, type StateConditions } from "./state.ts";

/** The clocks and limits of a service that are the same on every host; tests have others. */
export type ServeConditions = Pick<ServeDependencies, "nowMs" | "monotonicMs" | "random" | "sleep"> &
  PeerConditions &
  StateConditions;

/** Those of `opsctl webhook serve`. */
export const SERVE_CONDITIONS: ServeConditions = {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
  sendLimitMs: 30_000,
  lookUpLimitMs: 5_000,
  reserve: RESERVE,
};

/** What the wiring takes of a command's context. */
type ServeContext = Pick<CommandContext, "log" | "interrupted" | "env" | "readSettings">;

/**
 * Opens what the webhook service uses: state, clients, the sockets that systemd hands over; `close` closes the state.
 *
 * Errors: those of `openState`, before anything listens.
 */
export async function openServeDependencies(
  config: WebhookConfig,
  limits: OutboxLimits,
  context: ServeContext,
  reloader: Reloader<Reading>,
  conditions: ServeConditions = SERVE_CONDITIONS,
): Promise<{ dependencies: ServeDependencies; close(): Promise<void> }> {
  const { log, interrupted } = context;
  let stopPings = () => {};
  const sockets = activatedSockets(process.env, process.pid);
  const state = await openState(config.state, log, "opsctl webhook", {
    limits,
    comments: config.tracker.comments,
    service: conditions,
  });
  const peers = new ReplaceablePeers(config, {
    ...conditions,
    memory: state,
    onCall: callLog(log),
  });
  const dependencies: ServeDependencies = {
    authenticate: peers.authenticate,
    state,
    attempts: peers.attempts,
    lookUp: peers.lookUp,
    watchPeers: peers.watchPeers,
    metrics: createWebhookMetrics({ version: VERSION }),
    log,
    sockets,
    onReady({ port, adminPort }) {
      log.info("Listening for alerts", { port, ...(adminPort === null ? {} : { adminPort }) });
      stopPings = notifySystemd(process.env, {
        pid: process.pid,
        onFailure: (code) => log.warn("systemd could not be notified", { code }),
      });
    },
    interrupt: interrupted(),
    reloads: reloadsOf(reloader, { started: { config, env: context.env }, peers, context }),
    nowMs: conditions.nowMs,
    monotonicMs: conditions.monotonicMs,
    random: conditions.random,
    sleep: conditions.sleep,
  };
  const close = async () => {
    await state.close();
    stopPings();
  };
  return { dependencies, close };
}

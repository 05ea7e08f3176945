import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { keepLoopbackOffProxies } from "../../../lib/platform/http/proxy.ts";
import { activatedSockets } from "../../../lib/platform/server/socket-activation.ts";
import { openServiceManager } from "../../../lib/platform/service-manager.ts";
import type { WebhookConfig } from "../../../lib/webhook/config.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import type { Reading } from "../../../lib/webhook/need-restart.ts";
import type { Reloader } from "../../../lib/webhook/reload.ts";
import type { ServeDependencies } from "../../../lib/webhook/serve.ts";
import type { OutboxLimits } from "../../../lib/webhook/state/contract.ts";
import type { CommandContext } from "../../framework/command.ts";
import { VERSION } from "../../framework/version.ts";
import { ReplaceablePeers } from "./peers.ts";
import { reloadsOf } from "./reload.ts";
import { openState } from "./state.ts";

/**
 * Opens what the webhook service uses: state, clients, the sockets that systemd hands over; `close` closes the state.
 *
 * Errors: those of `openState`, before anything listens.
 */
export async function openServeDependencies(
  config: WebhookConfig,
  limits: OutboxLimits,
  context: CommandContext,
  reloader: Reloader<Reading>,
): Promise<{ dependencies: ServeDependencies; close(): Promise<void> }> {
  const { log, interrupted } = context;
  const manager = openServiceManager(process.env, {
    pid: process.pid,
    onFailure: (code) => log.warn("systemd could not be told how the service is", { code }),
  });
  const sockets = activatedSockets(process.env, process.pid);
  keepLoopbackOffProxies(process.env);
  const state = await openState(config.state, log, "opsctl webhook", {
    limits,
    comments: config.tracker.comments,
    isService: true,
  });
  const peers = new ReplaceablePeers(config, state, (record) => log.debug("A peer was called", record));
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
      void manager.ready();
    },
    interrupt: interrupted(),
    reloads: reloadsOf(reloader, { started: { config, env: context.env }, peers, context }),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
  };
  const close = async () => {
    await state.close();
    manager.close();
  };
  return { dependencies, close };
}

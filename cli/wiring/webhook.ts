import { execFile } from "node:child_process";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { keepLoopbackOffProxies } from "../../lib/platform/http/proxy.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { activatedSockets } from "../../lib/platform/server/socket-activation.ts";
import type { WebhookConfig } from "../../lib/webhook/config.ts";
import { createWebhookMetrics } from "../../lib/webhook/metrics/metrics.ts";
import type { Reading } from "../../lib/webhook/need-restart.ts";
import type { Reloader } from "../../lib/webhook/reload.ts";
import type { ServeDependencies } from "../../lib/webhook/serve.ts";
import type { OutboxLimits } from "../../lib/webhook/state/contract.ts";
import type { CommandContext } from "../framework/command.ts";
import { VERSION } from "../framework/version.ts";
import { ReplaceablePeers } from "./webhook-peers.ts";
import { reloadsOf } from "./webhook-reload.ts";
import { openState } from "./webhook-state.ts";

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
  const sockets = activatedSockets(process.env, process.pid);
  keepLoopbackOffProxies(process.env);
  const state = await openState(config.state, log, "opsctl webhook", {
    limits,
    comments: config.tracker.comments,
    keepsReserve: true,
  });
  const peers = new ReplaceablePeers(config, state, (record) => log.debug("A peer was called", record));
  const dependencies: ServeDependencies = {
    authenticate: peers.authenticate,
    state,
    attempts: peers.attempts,
    lookUp: peers.lookUp,
    metrics: createWebhookMetrics({ version: VERSION }),
    log,
    sockets,
    onReady({ port, adminPort }) {
      log.info("Listening for alerts", { port, ...(adminPort === null ? {} : { adminPort }) });
      void notifyReady(log);
    },
    interrupt: interrupted(),
    reloads: reloadsOf(reloader, { started: { config, env: context.env }, peers, context }),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
  };
  return { dependencies, close: () => state.close() };
}

/** Tells systemd that the service is ready, through `systemd-notify`: neither runtime can write to the notify socket. */
async function notifyReady(log: Log): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return;
  try {
    await promisify(execFile)("systemd-notify", ["--ready"], { timeout: 5_000 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log.warn("systemd could not be told that the service is ready", { code: String(code ?? "failed") });
  }
}

import { execFile } from "node:child_process";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { CallRecord } from "../../lib/platform/http/call-peer.ts";
import { keepLoopbackOffProxies } from "../../lib/platform/http/proxy.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { activatedSockets } from "../../lib/platform/server/socket-activation.ts";
import { evolutionClient } from "../../lib/providers/evolution/client.ts";
import { messageFinder } from "../../lib/providers/evolution/find-messages.ts";
import { resolveInstance } from "../../lib/providers/evolution/instance.ts";
import { linearTracker } from "../../lib/providers/linear/client.ts";
import type { WebhookConfig } from "../../lib/webhook/config.ts";
import { messageLookUp } from "../../lib/webhook/delivery/look-up.ts";
import { issueAttempt, messageAttempt } from "../../lib/webhook/delivery/send-alert.ts";
import { commentAttempt } from "../../lib/webhook/delivery/send-comment.ts";
import { createWebhookMetrics } from "../../lib/webhook/metrics/metrics.ts";
import type { ServeDependencies } from "../../lib/webhook/serve.ts";
import type { OutboxLimits, State } from "../../lib/webhook/state/contract.ts";
import type { CommandContext } from "../framework/command.ts";
import { VERSION } from "../framework/version.ts";
import { openState } from "./webhook-state.ts";

/** An alert's message may take this long before it counts as failed. */
const SEND_LIMIT_MS = 30_000;
/** One question for a message that may have been sent; the gateway reads its own database. */
const LOOK_UP_LIMIT_MS = 5_000;

/**
 * Opens what the webhook service uses: state, clients, the sockets that systemd hands over; `close` closes the state.
 *
 * Errors: those of `openState`, before anything listens.
 */
export async function openServeDependencies(
  config: WebhookConfig,
  limits: OutboxLimits,
  { log, interrupted }: CommandContext,
): Promise<{ dependencies: ServeDependencies; close(): Promise<void> }> {
  const sockets = activatedSockets(process.env, process.pid);
  keepLoopbackOffProxies(process.env);
  const state = await openState(config.state, log, "opsctl webhook", {
    limits,
    comments: config.tracker.comments,
  });
  const dependencies: ServeDependencies = {
    secret: config.secret,
    state,
    ...deliveryOf(config, state, (record) => log.debug("A peer was called", record)),
    metrics: createWebhookMetrics({ version: VERSION }),
    log,
    sockets,
    onReady({ port, adminPort }) {
      log.info("Listening for alerts", { port, ...(adminPort === null ? {} : { adminPort }) });
      void notifyReady(log);
    },
    interrupt: interrupted(),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
  };
  return { dependencies, close: () => state.close() };
}

/** How a message is sent through the gateway and looked for there, and how an issue is created in the tracker. */
function deliveryOf(
  { messaging, tracker }: WebhookConfig,
  state: State,
  onCall: (record: CallRecord) => void,
): Pick<ServeDependencies, "attempts" | "lookUp"> {
  const peer = { baseUrl: new URL(messaging.apiUrl), adminKey: messaging.apiKey, onCall };
  const gateway = evolutionClient({ ...peer, timeoutMs: SEND_LIMIT_MS });
  const find = messageFinder({ ...peer, timeoutMs: LOOK_UP_LIMIT_MS });
  const { token, teamId } = tracker;
  const issues = linearTracker({ url: new URL(tracker.url), token, teamId, onCall });
  const findInstance = resolveInstance({ gateway, configured: messaging.instance });
  const { phone } = messaging;
  return {
    attempts: {
      message: messageAttempt({ gateway, findInstance, phone }),
      issue: issueAttempt(issues),
      // Always there: rows may wait from before comments were turned off.
      comment: commentAttempt(issues),
    },
    lookUp: messageLookUp({
      find,
      findInstance,
      phone,
      heldReferences: (kind, references) => state.heldReferences(kind, references),
      nowMs: Date.now,
    }),
  };
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

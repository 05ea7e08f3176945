import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import type { WebhookConfig } from "../../../lib/webhook/config.ts";
import type { Attempt, LookUp } from "../../../lib/webhook/delivery/attempts/attempt.ts";
import { messageLookUp } from "../../../lib/webhook/delivery/attempts/look-up.ts";
import { issueAttempt, messageAttempt } from "../../../lib/webhook/delivery/attempts/send-alert.ts";
import { commentAttempt } from "../../../lib/webhook/delivery/attempts/send-comment.ts";
import { type Authenticate, authenticator } from "../../../lib/webhook/http/authenticate.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import type { WatchPeers } from "../../../lib/webhook/watch/watch.ts";
import { watchPeersOf } from "./watch.ts";

/**
 * How long calls may take.
 *
 * Shape: `sendLimitMs` is for a message, an issue or a comment, after which it counts as failed; `lookUpLimitMs` for
 *        one question for a message that may have been sent: the gateway reads its own database.
 */
export type PeerConditions = { nowMs: () => number; sendLimitMs: number; lookUpLimitMs: number };

type Peers = {
  authenticate: Authenticate;
  attempts: { message: Attempt; issue: Attempt; comment: Attempt };
  lookUp: LookUp;
  watchPeers: () => WatchPeers;
};

type PeerParts = PeerConditions & {
  memory: Pick<State, "heldReferences">;
  onCall: (record: CallRecord) => void;
};

/**
 * What the service makes of the settings that a reload changes: who may post, and how messages, issues and comments are
 * sent and messages looked for, and what the watch over the alarm asks and tells.
 *
 * Behaviour: `replace` counts for what begins after it; a request or an attempt that has begun ends with the old
 *            settings.
 */
export class ReplaceablePeers implements Peers {
  readonly #parts: PeerParts;
  #now: Peers;

  constructor(config: WebhookConfig, parts: PeerParts) {
    this.#parts = parts;
    this.#now = peersOf(config, parts);
  }

  readonly authenticate: Authenticate = (headers) => this.#now.authenticate(headers);

  readonly attempts: Peers["attempts"] = {
    message: (row, signal) => this.#now.attempts.message(row, signal),
    issue: (row, signal) => this.#now.attempts.issue(row, signal),
    comment: (row, signal) => this.#now.attempts.comment(row, signal),
  };

  readonly lookUp: LookUp = (row, signal) => this.#now.lookUp(row, signal);

  readonly watchPeers = (): WatchPeers => this.#now.watchPeers();

  replace(config: WebhookConfig): void {
    this.#now = peersOf(config, this.#parts);
  }
}

function peersOf(config: WebhookConfig, parts: PeerParts): Peers {
  const watchPeers = watchPeersOf(config, parts.onCall);
  return {
    authenticate: authenticator(config),
    ...deliveryOf(config, parts),
    watchPeers: () => watchPeers,
  };
}

/** How a message is sent through the gateway and looked for there, and how an issue is created in the tracker. */
function deliveryOf(
  { messaging, tracker }: WebhookConfig,
  { nowMs, sendLimitMs, lookUpLimitMs, memory, onCall }: PeerParts,
): Pick<Peers, "attempts" | "lookUp"> {
  const peer = { baseUrl: new URL(messaging.apiUrl), adminKey: messaging.apiKey, onCall };
  const gateway = evolutionClient({ ...peer, timeoutMs: sendLimitMs });
  const find = messageFinder({ ...peer, timeoutMs: lookUpLimitMs });
  const { token, teamId } = tracker;
  const issues = linearTracker({ url: new URL(tracker.url), token, teamId, timeoutMs: sendLimitMs, onCall });
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
      heldReferences: (kind, references) => memory.heldReferences(kind, references),
      nowMs,
    }),
  };
}

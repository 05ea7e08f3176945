/** The messaging gateway, Evolution API v2: sends the WhatsApp messages of reports and alerts. */
import { member } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import type { ChannelFault, SendOutcome } from "../send-outcome.ts";
import { callGateway, type GatewayOptions } from "./call.ts";
import { outcomeOf } from "./outcome.ts";
import { codeOfQuestion, gatewayRefusal } from "./refusal.ts";
import { type InstanceCheck, instanceCheckOf } from "./state.ts";

/** One WhatsApp text; `number` is digits with country code. */
export type WhatsappText = { instanceName: string; number: string; text: string };

/** The names of the instances that the key may see, or why they are not known. */
export type InstanceList =
  | { status: "ok"; names: string[] }
  | { status: "failed"; code: string; stopsChannel: boolean };

/**
 * The messaging gateway.
 *
 * Behaviour: `checkInstance` returns `open` only when the answer says so; `sendText` sends once and never repeats.
 *            After a 400 or 500 that proves nothing it asks once for the instance's state: a fault that the gateway
 *            names becomes the outcome's `channel`. `open`, or no readable answer, adds nothing.
 */
export type EvolutionClient = {
  checkInstance(instanceName: string, signal?: AbortSignal): Promise<InstanceCheck>;
  listInstances(signal?: AbortSignal): Promise<InstanceList>;
  sendText(message: WhatsappText, signal?: AbortSignal): Promise<SendOutcome>;
};

/** Longest time of one call: above the 60 s that the gateway waits for its own number check, well below the lease. */
export const EVOLUTION_SEND_TIMEOUT_MS = 90_000;

/** Longest time of the question that may follow a send; the gateway answers it from its memory. */
export const EVOLUTION_STATE_TIMEOUT_MS = 5_000;

/** The gateway's statuses for an instance that is not connected, and for much else. */
const SAYS_NOTHING: ReadonlySet<number | undefined> = new Set([400, 500]);

/**
 * The client of the messaging gateway.
 *
 * Errors: none thrown; what an answer means is decided by its shape, since the gateway turns a failure after the send
 *         into a 400 as well. Messages of the gateway are compared and dropped, never kept.
 * Source: github.com/EvolutionAPI/evolution-api at 3454bec (2.3.6) and 2.4.0-rc2, read 2026-11-21.
 */
export function evolutionClient(options: GatewayOptions): EvolutionClient {
  const { timeoutMs = EVOLUTION_SEND_TIMEOUT_MS } = options;

  const askState = async (instanceName: string, limitMs: number, signal?: AbortSignal) => {
    const path = ["instance", "connectionState", instanceName];
    return instanceCheckOf(await callGateway(options, { method: "GET", path, timeoutMs: limitMs, signal }));
  };

  return {
    checkInstance: (instanceName, signal) => askState(instanceName, timeoutMs, signal),
    async listInstances(signal) {
      const path = ["instance", "fetchInstances"];
      return instancesOf(await callGateway(options, { method: "GET", path, timeoutMs, signal }));
    },
    async sendText({ instanceName, number, text }, signal) {
      const path = ["message", "sendText", instanceName];
      const body = { number, text, linkPreview: false };
      const result = await callGateway(options, { method: "POST", path, body, timeoutMs, signal });
      const outcome = outcomeOf(result);
      if (!asksForState(result, outcome)) return outcome;
      const limitMs = Math.min(timeoutMs, EVOLUTION_STATE_TIMEOUT_MS);
      return { ...outcome, ...channelFault(await askState(instanceName, limitMs, signal)) };
    },
  };
}

function asksForState({ answer }: CallResult, outcome: SendOutcome): boolean {
  return outcome.status === "unknown" && !outcome.channel && SAYS_NOTHING.has(answer?.status);
}

function channelFault(check: InstanceCheck): { channel?: ChannelFault } {
  if (check.status === "open" || !check.isProved) return {};
  const { code, cause, isPassing } = check;
  return { channel: { code, cause, ...(isPassing ? { isPassing } : {}) } };
}

// The rows hold each instance's own token: only the names leave this function.
function instancesOf(result: CallResult): InstanceList {
  if (result.status !== "answered") {
    const refusal = gatewayRefusal(result.answer);
    return { status: "failed", ...(refusal ?? { code: codeOfQuestion(result), stopsChannel: false }) };
  }
  const rows = result.answer.json;
  const names = Array.isArray(rows) ? rows.map((row) => member(row, "name")) : [null];
  if (names.every(isName)) return { status: "ok", names };
  return { status: "failed", code: "gateway_answer_unreadable", stopsChannel: false };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

import { member } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { PROXY_OUTAGES } from "../send-outcome.ts";
import { codeOfQuestion, gatewayRefusal } from "./refusal.ts";

/**
 * Whether an instance may send, or why not.
 *
 * Shape: `code` is the public code; `cause` is the code behind it, where that is another: `instance_…` when the gateway
 *        names a state, else the code of the call. `isProved` when the gateway itself said it; `stopsChannel` when it
 *        refuses us, whatever the instance; `timedOut` when no answer came in time; `isPassing` when it may be over in
 *        a moment.
 */
export type InstanceCheck =
  | { status: "open" }
  | {
      status: "not_open";
      code: string;
      cause?: string;
      isProved: boolean;
      stopsChannel: boolean;
      timedOut: boolean;
      isPassing?: true;
    };

/**
 * What a gateway goes through by itself. It connects again when WhatsApp closes its connection: the state is `close`
 * until it has asked the web for WhatsApp's version (from 2.4 on for three seconds more), then `connecting`. A running
 * 2.3.7 without a network said `close` for up to five seconds at a time, 2026-11-23. While it starts it is unreachable,
 * then answers without a state until it has loaded its instances.
 */
const PASSING: ReadonlySet<string> = new Set([
  "instance_close",
  "instance_connecting",
  "instance_not_loaded",
  "gateway_unreachable",
  "gateway_connection_lost",
  ...PROXY_OUTAGES.map((status) => `gateway_http_${status}`),
]);

/** The states besides `open`; any other word is not the gateway's. */
const NOT_OPEN: ReadonlySet<unknown> = new Set(["close", "connecting", "refused"]);

/**
 * What an answer to the question for an instance's state says.
 *
 * Behaviour: the gateway checks key and licence before every route, so their refusals come here first. An instance that
 *            the gateway has in its database and did not load has a name and no state.
 */
export function instanceCheckOf(result: CallResult): InstanceCheck {
  if (result.status === "answered") return checkOfState(member(result.answer.json, "instance"));
  const refusal = gatewayRefusal(result.answer);
  if (refusal?.stopsChannel) return { status: "not_open", ...refusal, isProved: true, timedOut: false };
  if (refusal?.code === "sem_instancia_gateway") return notOpen("instance_missing", true);
  return { ...notOpen(codeOfQuestion(result), false), timedOut: result.problem === "timeout" };
}

function checkOfState(instance: unknown): InstanceCheck {
  const state = member(instance, "state");
  if (state === "open") return { status: "open" };
  if (NOT_OPEN.has(state)) return notOpen(`instance_${state}`, true);
  const isNamed = typeof member(instance, "instanceName") === "string";
  if (isNamed && (state === undefined || state === null)) return notOpen("instance_not_loaded", true);
  return notOpen("gateway_answer_unreadable", false);
}

function notOpen(cause: string, isProved: boolean): InstanceCheck & { status: "not_open" } {
  const known = { code: "sem_instancia_gateway", cause, isProved, stopsChannel: false, timedOut: false };
  return { status: "not_open", ...known, ...(PASSING.has(cause) ? { isPassing: true } : {}) };
}

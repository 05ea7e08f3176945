import { ALERT_GATEWAY, gatewayAdvice } from "../providers/evolution/advice.ts";
import type { EvolutionClient } from "../providers/evolution/client.ts";
import type { FindInstance } from "../providers/evolution/instance.ts";
import type { ChannelFault, SendOutcome } from "../providers/send-outcome.ts";
import type { MonitorProblem } from "./alert-once.ts";

/** What it takes to send one message. */
export type Messenger = {
  gateway: Pick<EvolutionClient, "sendText">;
  findInstance: FindInstance;
  phone: string;
  /** How long looking for the instance and sending may take together. */
  limitMs: number;
};

/**
 * Sends one text to the alert phone; null when the gateway has taken it, else why that is not certain.
 *
 * Behaviour: an answer that proves nothing counts as a failure here: a second alert is better than a missing one.
 */
export async function sendText(messenger: Messenger, text: string): Promise<MonitorProblem | null> {
  const { gateway, findInstance, phone, limitMs } = messenger;
  const signal = AbortSignal.timeout(limitMs);
  const instance = await findInstance(signal);
  if (instance.status !== "found") return problem({ code: instance.code });
  return problemOf(await gateway.sendText({ instanceName: instance.name, number: phone, text }, signal));
}

function problemOf(outcome: SendOutcome): MonitorProblem | null {
  if (outcome.status === "sent") return null;
  return problem((outcome.status === "unknown" ? outcome.channel : null) ?? { code: outcome.code });
}

function problem({ code, cause }: ChannelFault): MonitorProblem {
  const advice = gatewayAdvice({ code, cause }, ALERT_GATEWAY);
  const why = advice === null ? code : `${code}, ${advice.problem}. ${advice.fix}`;
  return { code, message: `Cannot send the alert by WhatsApp: ${why}; the next run tries again` };
}

import type { EvolutionClient } from "../providers/evolution.ts";
import type { SendOutcome } from "../providers/send-outcome.ts";
import type { MonitorProblem } from "./alert.ts";

/** What it takes to send one message; `findInstance` answers the instance that sends, or why there is none. */
export type Messenger = {
  gateway: Pick<EvolutionClient, "sendText">;
  findInstance: (signal: AbortSignal) => Promise<{ name: string } | { code: string; stopsChannel: boolean }>;
  phone: string;
  /** How long looking for the instance and sending may take together. */
  limitMs: number;
};

/**
 * Sends one text to the alert phone; null when the gateway has taken it, else why that is not certain.
 *
 * Shape: an answer that proves nothing counts as a failure here: a second alert is better than a missing one.
 */
export async function sendText(messenger: Messenger, text: string): Promise<MonitorProblem | null> {
  const { gateway, findInstance, phone, limitMs } = messenger;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), limitMs);
  try {
    const instance = await findInstance(over.signal);
    if ("code" in instance) return problem(instance.code);
    return problemOf(
      await gateway.sendText({ instanceName: instance.name, number: phone, text }, over.signal),
    );
  } finally {
    clearTimeout(timer);
  }
}

function problemOf(outcome: SendOutcome): MonitorProblem | null {
  return outcome.status === "sent" ? null : problem(outcome.code);
}

function problem(code: string): MonitorProblem {
  return { code, message: `Cannot send the alert by WhatsApp: ${code}; the next run tries again` };
}

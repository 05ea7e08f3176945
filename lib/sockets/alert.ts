import type { SqliteDedup } from "../dedup/sqlite.ts";
import { OpsError } from "../platform/errors.ts";
import { ALERT_GATEWAY, gatewayAdvice } from "../providers/evolution/advice.ts";
import type { EvolutionClient } from "../providers/evolution/client.ts";
import type { FindInstance } from "../providers/evolution/instance.ts";
import type { ChannelFault } from "../providers/send-outcome.ts";

/** The result for the alert: `suppressed` when one was sent less than 30 minutes ago. */
export type AlertOutcome = "not_needed" | "sent" | "suppressed" | "failed";

/** Something that made the run fail: a public code, and a sentence for the operator. */
export type MonitorProblem = { code: string; message: string };

/** Opens the dedup that the host's processes share. */
export type OpenDedup = () => Promise<{ dedup: SqliteDedup; close(): void }>;

/** Sends one message; `limitMs` is for finding the instance and sending together. */
export type Messenger = {
  gateway: Pick<EvolutionClient, "sendText">;
  findInstance: FindInstance;
  phone: string;
  limitMs: number;
};

const KEY = "socket-monitor:total";
/** Longer than any run, and over before the next one begins: a killed run must not silence the one after it. */
const PROVISIONAL_MS = 4 * 60_000;
const REPEAT_MS = 30 * 60_000;

/**
 * Sends the alert of an episode unless one was sent less than 30 minutes ago.
 *
 * Behaviour: the claim is confirmed with its own token as value, with which a later run ends the episode. When the
 *            dedup cannot be used, the message is sent anyway, because a second one is better than none, and the run
 *            fails.
 */
export async function alertOnce(
  openDedup: OpenDedup,
  messenger: Messenger,
  text: string,
): Promise<{ alert: AlertOutcome; problems: MonitorProblem[] }> {
  const claimed = await withDedup(openDedup, (dedup) => dedup.claim(KEY, PROVISIONAL_MS));
  const claim = claimed.value;
  if (claim?.status === "duplicate") return { alert: "suppressed", problems: [] };
  const failure = await sendText(messenger, text);
  const settled = await withDedup(openDedup, (dedup) => {
    if (claim === null) return;
    if (failure === null) dedup.confirm(KEY, claim.token, { ttlMs: REPEAT_MS, value: claim.token });
    else dedup.release(KEY, claim.token);
  });
  const unsettled = claim === null ? null : settled.problem;
  const problems = [claimed.problem, failure, unsettled].filter((problem) => problem !== null);
  return { alert: failure === null ? "sent" : "failed", problems };
}

/** Ends the episode, so that the next crossing alerts at once; a run that is still sending is not disturbed. */
export async function endEpisode(openDedup: OpenDedup): Promise<MonitorProblem[]> {
  const { problem } = await withDedup(openDedup, (dedup) => {
    const claim = dedup.claim(KEY, PROVISIONAL_MS);
    const token = claim.status === "first" ? claim.token : claim.value;
    if (token !== null) dedup.release(KEY, token);
  });
  return problem === null ? [] : [problem];
}

// Opened for each use: the file is not kept open while the gateway is called.
async function withDedup<T>(
  openDedup: OpenDedup,
  use: (dedup: SqliteDedup) => T,
): Promise<{ value: T | null; problem: MonitorProblem | null }> {
  try {
    const { dedup, close } = await openDedup();
    try {
      return { value: use(dedup), problem: null };
    } finally {
      close();
    }
  } catch (error) {
    const { code = "unexpected failure" } = error as NodeJS.ErrnoException;
    if (error instanceof OpsError)
      return { value: null, problem: { code: error.code, message: error.message } };
    const problem = { code: "STATE_UNAVAILABLE", message: `Cannot use the shared dedup: ${code}` };
    return { value: null, problem };
  }
}

/** Null when the gateway accepted the message; an ambiguous answer is a failure: a second alert is better than none. */
async function sendText(messenger: Messenger, text: string): Promise<MonitorProblem | null> {
  const { gateway, findInstance, phone, limitMs } = messenger;
  const signal = AbortSignal.timeout(limitMs);
  const instance = await findInstance(signal);
  if (instance.status !== "found") return problemOf({ code: instance.code });
  const outcome = await gateway.sendText({ instanceName: instance.name, number: phone, text }, signal);
  if (outcome.status === "sent") return null;
  return problemOf((outcome.status === "unknown" ? outcome.channel : null) ?? { code: outcome.code });
}

function problemOf({ code, cause }: ChannelFault): MonitorProblem {
  const advice = gatewayAdvice({ code, cause }, ALERT_GATEWAY);
  const why = advice === null ? code : `${code}, ${advice.problem}. ${advice.fix}`;
  return { code, message: `Cannot send the alert by WhatsApp: ${why}; the next run tries again` };
}

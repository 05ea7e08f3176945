import type { CallRecord } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { unlessLate } from "../../platform/time-limit.ts";
import { type PostOutcome, postAlert } from "./post.ts";
import type { RunAlert } from "./render-alert.ts";

/** The webhook that is told: both functions throw what is wrong with its settings. */
export type AlertWebhook = { url(): Promise<URL>; findSecret(): Promise<Secret> };

/** What announcing needs. */
export type AnnounceDependencies = {
  interrupt: AbortSignal;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** How long announcing may take, the search for the secret included. */
const LIMIT_MS = 10_000;
/** After a signal: hosts give a process half a minute, and the run itself may have used most of it. */
const INTERRUPTED_LIMIT_MS = 4_000;

/**
 * Tells the webhook of one alert.
 *
 * Errors: none thrown; without usable settings nothing was posted, and the cause is the code of what is wrong.
 */
export async function announce(
  webhook: AlertWebhook,
  alert: RunAlert,
  dependencies: AnnounceDependencies,
): Promise<PostOutcome> {
  const { interrupt, monotonicMs } = dependencies;
  const limitMs = interrupt.aborted ? INTERRUPTED_LIMIT_MS : LIMIT_MS;
  const deadlineMs = monotonicMs() + limitMs;
  try {
    const url = await webhook.url();
    const secret = await unlessLate(
      { limitMs },
      () => webhook.findSecret(),
      () => null,
    );
    if (secret === null) return { status: "refused", cause: "secret_timeout" };
    return await postAlert({ ...dependencies, url, secret, limitMs: deadlineMs - monotonicMs() }, alert);
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: string };
    return { status: "refused", cause: typeof code === "string" ? code : (name ?? "unexpected") };
  }
}

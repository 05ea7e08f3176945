import type { CallRecord } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { withTimeout } from "../../platform/timeout.ts";
import { type PostOutcome, postAlert } from "./post.ts";
import type { RunAlert } from "./render-alert.ts";

/** The webhook that is told: both functions throw what is wrong with its settings. */
export type AlertWebhook = { url(): Promise<URL>; findSecret(): Promise<Secret> };

/**
 * What announcing needs.
 *
 * Units: `limitsMs` is how long it may take, the search for the secret included; a shorter one after a signal.
 */
export type AnnounceDependencies = {
  interrupt: AbortSignal;
  limitsMs: { usual: number; interrupted: number };
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  onCall?: ((record: CallRecord) => void) | undefined;
};

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
  const { interrupt, limitsMs, monotonicMs } = dependencies;
  const limitMs = interrupt.aborted ? limitsMs.interrupted : limitsMs.usual;
  const deadlineMs = monotonicMs() + limitMs;
  try {
    const url = await webhook.url();
    const secret = await withTimeout(
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

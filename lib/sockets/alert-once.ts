import type { Claim, SqliteDedup } from "../dedup/sqlite.ts";
import { OpsError } from "../platform/errors.ts";

/** The result for the alert: `suppressed` when one was sent less than 30 minutes ago. */
export type AlertOutcome = "not_needed" | "sent" | "suppressed" | "failed";

/** Something that made the run fail: a public code, and a sentence for the operator. */
export type MonitorProblem = { code: string; message: string };

/** Sends the message once: null when it is sent, else why not. */
export type SendAlert = () => Promise<MonitorProblem | null>;

/** Opens the dedup that the host's processes share. */
export type OpenDedup = () => Promise<{ dedup: SqliteDedup; close(): void }>;

const KEY = "socket-monitor:total";

/** Longer than any run, and over before the next one begins: a killed run must not silence the one after it. */
const PROVISIONAL_MS = 4 * 60_000;
const REPEAT_MS = 30 * 60_000;

/**
 * Sends the alert of an episode unless one was sent less than 30 minutes ago.
 *
 * Behaviour: the claim is confirmed with its own token as value, with which a later run ends the episode. When the
 *            dedup cannot be used, the message is sent all the same, because a second one is better than none, and the
 *            run fails.
 */
export async function alertOnce(
  openDedup: OpenDedup,
  send: SendAlert,
): Promise<{ alert: AlertOutcome; problems: MonitorProblem[] }> {
  const claimed = await withDedup(openDedup, (dedup) => dedup.claim(KEY, PROVISIONAL_MS));
  if (claimed.status === "failed") {
    const failure = await send();
    const problems = [claimed.problem, ...(failure === null ? [] : [failure])];
    return { alert: failure === null ? "sent" : "failed", problems };
  }
  const claim = claimed.value;
  if (claim.status === "duplicate") return { alert: "suppressed", problems: [] };
  const failure = await send();
  const settled = await withDedup(openDedup, (dedup) => settle(dedup, claim, failure === null));
  const problems = [failure, settled.status === "failed" ? settled.problem : null].filter(
    (problem) => problem !== null,
  );
  return { alert: failure === null ? "sent" : "failed", problems };
}

/** Ends the episode, so that the next crossing alerts at once; a run that is still sending is not disturbed. */
export async function endEpisode(openDedup: OpenDedup): Promise<MonitorProblem[]> {
  const ended = await withDedup(openDedup, (dedup) => {
    const claim = dedup.claim(KEY, PROVISIONAL_MS);
    const token = claim.status === "first" ? claim.token : claim.value;
    if (token !== null) dedup.release(KEY, token);
  });
  return ended.status === "failed" ? [ended.problem] : [];
}

function settle(dedup: SqliteDedup, { token }: Extract<Claim, { status: "first" }>, isSent: boolean): void {
  if (isSent) dedup.confirm(KEY, token, { ttlMs: REPEAT_MS, value: token });
  else dedup.release(KEY, token);
}

// Opened for each use: the file is not kept open while the gateway is called.
async function withDedup<T>(
  openDedup: OpenDedup,
  use: (dedup: SqliteDedup) => T,
): Promise<{ status: "done"; value: T } | { status: "failed"; problem: MonitorProblem }> {
  try {
    const { dedup, close } = await openDedup();
    try {
      return { status: "done", value: use(dedup) };
    } finally {
      close();
    }
  } catch (error) {
    if (error instanceof OpsError)
      return { status: "failed", problem: { code: error.code, message: error.message } };
    const { code } = error as { code?: unknown };
    const message = `Cannot use the shared dedup: ${typeof code === "string" ? code : "unexpected failure"}`;
    return { status: "failed", problem: { code: "STATE_UNAVAILABLE", message } };
  }
}
